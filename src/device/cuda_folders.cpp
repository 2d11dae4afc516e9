#include "device/cuda_folders.h"

#include <cstdlib>

#include "base/error.h"
#include "base/files.h"

namespace ktune::device {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUsualHome = "/usr/local/cuda";  // where NVIDIA's own packages put a toolkit

std::vector<fs::path> cuda_homes() {
  std::vector<fs::path> homes;
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home != '\0') homes.emplace_back(home);
  homes.emplace_back(KTUNE_CUDA_HOME);
  homes.emplace_back(kUsualHome);
  return homes;
}

fs::path own_folder(const char* name) {
  try {
    return resource_root() / name;
  } catch (const Error&) {
    return {};  // kernels are looked for elsewhere, with a message of its own
  }
}

}  // namespace

std::vector<fs::path> cuda_library_dirs() {
  std::vector<fs::path> dirs;
  for (const fs::path& home : cuda_homes())
    for (const char* sub : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"})
      dirs.push_back(home / sub);
  if (const fs::path own = own_folder("lib"); !own.empty()) dirs.push_back(own);
  return dirs;
}

std::vector<fs::path> cuda_include_dirs() {
  std::vector<fs::path> dirs;
  for (const fs::path& home : cuda_homes()) dirs.push_back(home / "include");
  if (const fs::path own = own_folder("include"); !own.empty()) dirs.push_back(own);
  return dirs;
}

}  // namespace ktune::device
