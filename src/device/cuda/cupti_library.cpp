#include "device/cuda/cupti_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

#include "device/cuda_folders.h"

namespace ktune::device::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kFirstByToolkit = 100000;

void* open_first() {
  std::vector<fs::path> dirs = cuda_library_dirs();
  const std::size_t count = dirs.size();
  for (std::size_t i = 0; i < count; ++i) dirs.push_back(dirs[i].parent_path() / "extras" / "CUPTI" / "lib64");
  for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
    std::error_code error;
    for (const fs::path& dir : dirs) {
      if (!fs::exists(dir / name, error)) continue;
      if (void* library = dlopen((dir / name).c_str(), RTLD_NOW | RTLD_LOCAL); library != nullptr) return library;
    }
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL); library != nullptr) return library;
  }
  return nullptr;
}

}  // namespace

void* open_cupti(std::string& problem) {
  static void* const library = open_first();
  if (library == nullptr) {
    problem =
        "libcupti.so.13 (or 12) was not found; it is part of a CUDA toolkit and of NVIDIA's wheel nvidia-cuda-cupti";
  }
  return library;
}

int cupti_major(std::uint32_t version) { return version < kFirstByToolkit ? 12 : static_cast<int>(version / 10000); }

}  // namespace ktune::device::cuda
