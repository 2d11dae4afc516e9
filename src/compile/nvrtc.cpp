#include "compile/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <system_error>

#include "base/error.h"
#include "device/cuda_folders.h"

// libnvrtc opened by its path does not find libnvrtc-builtins, which it opens by name at the first compile. Opening the
// builtins of the same folder first, globally, satisfies that later open.

namespace ktune::compile {
namespace {

namespace fs = std::filesystem;

using NvrtcHandle = struct OpaqueNvrtcProgram*;

struct Api {
  int (*version)(int*, int*) = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*create)(NvrtcHandle*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy)(NvrtcHandle*) = nullptr;
  int (*compile)(NvrtcHandle, int, const char* const*) = nullptr;
  int (*log_size)(NvrtcHandle, std::size_t*) = nullptr;
  int (*log)(NvrtcHandle, char*) = nullptr;
  int (*cubin_size)(NvrtcHandle, std::size_t*) = nullptr;
  int (*cubin)(NvrtcHandle, char*) = nullptr;
  int (*ptx_size)(NvrtcHandle, std::size_t*) = nullptr;
  int (*ptx)(NvrtcHandle, char*) = nullptr;
};

struct Loaded {
  Api api;
  NvrtcVersion version;
};

template <typename Function>
bool resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool resolve_all(void* library, Api& api) {
  return resolve(library, "nvrtcVersion", api.version) && resolve(library, "nvrtcGetErrorString", api.error_text) &&
         resolve(library, "nvrtcCreateProgram", api.create) && resolve(library, "nvrtcDestroyProgram", api.destroy) &&
         resolve(library, "nvrtcCompileProgram", api.compile) &&
         resolve(library, "nvrtcGetProgramLogSize", api.log_size) && resolve(library, "nvrtcGetProgramLog", api.log) &&
         resolve(library, "nvrtcGetCUBINSize", api.cubin_size) && resolve(library, "nvrtcGetCUBIN", api.cubin) &&
         resolve(library, "nvrtcGetPTXSize", api.ptx_size) && resolve(library, "nvrtcGetPTX", api.ptx);
}

const std::vector<std::string>& library_names() {
  static const std::vector<std::string> names{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  return names;
}

void open_builtins(const fs::path& dir) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("libnvrtc-builtins.so.")) dlopen(entry.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
  }
}

/// What tells one build of a version from another: the size of the library.
std::string build_of(const void* symbol, fs::path& path) {
  Dl_info info{};
  if (dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  path = fs::canonical(info.dli_fname, error);
  if (error) path = info.dli_fname;
  const auto bytes = fs::file_size(path, error);
  return error ? std::string() : std::to_string(bytes);
}

/// Opens one candidate; on failure adds why to `tried`.
bool open_library(const std::string& name, Loaded& loaded, std::string& tried) {
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    tried += fmt::format("\n  {}: {}", name, reason == nullptr ? "cannot be opened" : reason);
    return false;
  }
  NvrtcVersion& version = loaded.version;
  if (!resolve_all(library, loaded.api) || loaded.api.version(&version.major, &version.minor) != 0) {
    tried += fmt::format("\n  {}: not NVRTC", name);
  } else if (version.major < 12 || (version.major == 12 && version.minor < 8) || version.major > 13) {
    tried += fmt::format("\n  {}: {}, ktune needs 12.8 to 13.x", name, version.text());
  } else {
    version.build = build_of(reinterpret_cast<const void*>(loaded.api.version), version.path);
    return true;
  }
  dlclose(library);
  return false;
}

bool load(Loaded& loaded, std::string& tried) {
  std::error_code error;
  for (const fs::path& dir : device::cuda_library_dirs()) {
    for (const std::string& name : library_names()) {
      if (!fs::exists(dir / name, error)) continue;
      open_builtins(dir);
      if (open_library((dir / name).string(), loaded, tried)) return true;
    }
  }
  for (const std::string& name : library_names()) {
    if (open_library(name, loaded, tried)) return true;
  }
  return false;
}

const Loaded& nvrtc() {
  static const Loaded loaded = [] {
    Loaded fresh;
    std::string tried;
    if (!load(fresh, tried)) {
      throw Error(ErrorKind::kEnvironment, "no usable NVRTC (CUDA's run-time compiler) was found; tried:" + tried,
                  "install a CUDA toolkit 12.8 or newer, or NVIDIA's wheel nvidia-cuda-nvrtc, and set CUDA_HOME to "
                  "the folder that holds its lib or lib64");
    }
    return fresh;
  }();
  return loaded;
}

template <typename Size, typename Get>
std::string fetch(NvrtcHandle program, Size size_of, Get get, bool text) {
  std::size_t bytes = 0;
  if (size_of(program, &bytes) != 0 || bytes == 0) return {};
  std::string out(bytes, '\0');
  if (get(program, out.data()) != 0) return {};
  if (text && !out.empty() && out.back() == '\0') out.pop_back();
  return out;
}

}  // namespace

std::string NvrtcVersion::text() const { return fmt::format("NVRTC {}.{}", major, minor); }

fs::path cuda_include_dir() {
  std::vector<fs::path> dirs = device::cuda_include_dirs();
  try {
    const fs::path lib = nvrtc().version.path.parent_path();
    dirs.insert(dirs.begin(), lib.parent_path() / "include");
  } catch (const Error&) {
    // The CPU device needs the headers too, and no NVRTC.
  }
  std::error_code error;
  for (const fs::path& dir : dirs) {
    if (fs::exists(dir / "cuda_fp16.h", error)) return dir;
  }
  return {};
}

NvrtcVersion nvrtc_version() { return nvrtc().version; }

NvrtcOutput run_nvrtc(const NvrtcProgram& program) {
  const Api& api = nvrtc().api;
  std::vector<const char*> texts;
  std::vector<const char*> names;
  for (const auto& [name, text] : program.headers) {
    names.push_back(name.c_str());
    texts.push_back(text.c_str());
  }
  std::vector<const char*> options;
  bool want_ptx = false;
  for (const std::string& option : program.options) {
    options.push_back(option.c_str());
    want_ptx |= option.starts_with("--gpu-architecture=compute_");
  }
  // NVRTC 12.9 and later keep a cache of their own, and a hit leaves ptxas' log empty: no registers, no entries.
  // ktune's cache knows everything a binary depends on, theirs would only hide what a compile costs.
  const NvrtcVersion& version = nvrtc().version;
  if (version.major > 12 || (version.major == 12 && version.minor >= 9)) options.push_back("--no-cache");
  NvrtcOutput out;
  NvrtcHandle handle = nullptr;
  int status = api.create(&handle, program.source.c_str(), program.name.c_str(), static_cast<int>(names.size()),
                          texts.data(), names.data());
  if (status == 0) {
    status = api.compile(handle, static_cast<int>(options.size()), options.data());
    out.log = fetch(handle, api.log_size, api.log, true);
    if (status == 0) {
      out.code =
          want_ptx ? fetch(handle, api.ptx_size, api.ptx, true) : fetch(handle, api.cubin_size, api.cubin, false);
    }
    api.destroy(&handle);
  }
  out.ok = status == 0 && !out.code.empty();
  if (!out.ok) out.error = status == 0 ? "NVRTC made no code" : api.error_text(status);
  return out;
}

std::vector<std::string> nvrtc_options(const std::string& arch) {
  return {"--gpu-architecture=" + arch, "-std=c++17",   "-lineinfo", "--no-source-include", "-default-device",
          "--ptxas-options=-v",         "-DKTUNE_GPU=1"};
}

}  // namespace ktune::compile
