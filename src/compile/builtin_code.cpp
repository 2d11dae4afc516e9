#include "compile/builtin_code.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "compile/headers.h"
#include "compile/nvrtc.h"

namespace ktune::compile {
namespace {

namespace fs = std::filesystem;

NvrtcProgram read_program(const std::string& target, std::string& key) {
  const fs::path root = resource_root();
  const fs::path source = root / "kernels" / "builtin" / "device_kernels.cu";
  NvrtcProgram program;
  program.name = source.filename().string();
  program.source = read_file(source);
  program.options = nvrtc_options(target);
  FieldHasher hasher;
  hasher.add("source", program.source);
  const std::vector<std::string> dirs{(root / "kernels" / "include").string()};
  for (const KernelHeader& header : collect_headers(program.source, source.parent_path(), dirs, cuda_include_dir())) {
    hasher.add(header.name, header.hash);
    program.headers.emplace_back(header.name, *header.text);
  }
  for (const std::string& option : program.options) hasher.add("option", option);
  hasher.add("compiler", nvrtc_version().text() + " " + nvrtc_version().build);
  key = hasher.hex();
  return program;
}

/// The bytes of a cache file, if it is whole: its first 32 characters are the hash of the rest.
std::string read_cached(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  const std::string bytes = read_file(path);
  if (bytes.size() <= 32 || hash_hex(std::string_view(bytes).substr(32)) != bytes.substr(0, 32)) return {};
  return bytes.substr(32);
}

}  // namespace

std::string builtin_code(const std::string& target) {
  std::string key;
  const NvrtcProgram program = read_program(target, key);
  fs::path cached;
  try {
    const fs::path dir = cache_dir() / "builtin";
    fs::create_directories(dir);
    cached = dir / (key + ".bin");
    if (std::string code = read_cached(cached); !code.empty()) return code;
  } catch (const std::exception&) {
    cached.clear();  // without a cache every start compiles
  }
  const NvrtcOutput output = run_nvrtc(program);
  if (!output.ok) {
    throw Error(
        ErrorKind::kEnvironment,
        fmt::format("{} cannot compile ktune's own kernels for {}: {}", nvrtc_version().text(), target, output.error),
        "a newer CUDA toolkit may know this GPU; set CUDA_HOME to it", output.log);
  }
  try {
    if (!cached.empty()) write_file(cached, hash_hex(output.code) + output.code);
  } catch (const Error&) {
    // as above
  }
  return output.code;
}

device::BuiltinCompiler builtin_compiler() {
  const auto toolkit = [] {
    const NvrtcVersion version = nvrtc_version();
    return device::Toolkit{version.text(), version.major, version.minor};
  };
  return {toolkit, builtin_code};
}

std::unique_ptr<device::Device> open_device(const std::string& name) {
  return device::open_device(name, builtin_compiler());
}

}  // namespace ktune::compile
