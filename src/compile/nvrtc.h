#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

// NVRTC, loaded when it is first needed: one binary starts anywhere, with or without it. Prototypes are our own, so
// that no nvrtc.h is needed to build.

namespace ktune::compile {

/// One in-memory program. Nothing is read from disk: headers are found by the names given here alone.
struct NvrtcProgram {
  std::string name;  ///< what messages and line tables call the source: "rmsnorm.cu"
  std::string source;
  std::vector<std::pair<std::string, std::string>> headers;  ///< name as an #include spells it, text
  std::vector<std::string> options;
};

struct NvrtcOutput {
  bool ok = false;
  std::string code;  ///< cubin (a real architecture) or PTX (a virtual one)
  std::string log;
  std::string error;  ///< what NVRTC calls the failure; empty when ok
};

/// Which NVRTC this process uses.
struct NvrtcVersion {
  int major = 0;
  int minor = 0;
  std::filesystem::path path;  ///< as the loader found it
  std::string build;           ///< tells builds of one version apart; never a path

  /// "NVRTC 13.0".
  std::string text() const;
};

/// Folder that holds cuda_fp16.h: beside NVRTC, then as device::cuda_include_dirs orders them. Empty when there is
/// none.
std::filesystem::path cuda_include_dir();

/// Loads NVRTC (12.8 or newer, below 14) once. Throws Error(kEnvironment) with what was tried and what to do.
NvrtcVersion nvrtc_version();
/// Compiles. Throws Error(kEnvironment) when NVRTC cannot be loaded; a failed compile is a value.
NvrtcOutput run_nvrtc(const NvrtcProgram& program);

/// The options every ktune program is compiled with for "sm_90" (or "compute_90", for PTX).
std::vector<std::string> nvrtc_options(const std::string& arch);

}  // namespace ktune::compile
