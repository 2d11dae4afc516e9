#pragma once

#include <filesystem>
#include <string>

namespace ktune::device::cpu {

/// The host's C++ compiler: it makes the CPU device's kernels.
struct HostToolchain {
  std::string command;  ///< $CXX, else the first of g++, c++, clang++ that is there
  std::string name;     ///< "g++" or "clang++"
  std::string version;  ///< "12.2.0"
  std::string build;    ///< the compiler's first line about itself: tells builds of one version apart
  bool clang = false;

  /// "g++ 12.2.0".
  std::string text() const { return name + " " + version; }
};

/// Looks for it once. Throws Error(kEnvironment) with a hint when there is none that works.
const HostToolchain& host_toolchain();

/// The folder of simt.h. Throws Error(kEnvironment) when this installation lacks it.
std::filesystem::path simt_dir();

/// The sanitizer's runtime to preload into a worker, by the compiler's own word. Throws Error(kEnvironment).
std::filesystem::path sanitizer_runtime();

}  // namespace ktune::device::cpu
