#pragma once

#include <string>

namespace ktune::device::cuda {

/// CUDA_ERROR_NO_DEVICE: also what a count of zero means.
inline constexpr int kNoDevice = 100;

/// Throws what a failed cuInit means and what to do: Error(kEnvironment). `result` is a CUresult, `text` CUDA's words.
[[noreturn]] void throw_init_error(int result, const std::string& text);

/// Throws Error(kEnvironment) when the driver (13000 is 13.0) is older than ktune needs or cannot load what this
/// NVRTC makes: machine code of a newer major version.
void check_driver_version(int driver_cuda, int nvrtc_major, int nvrtc_minor);

}  // namespace ktune::device::cuda
