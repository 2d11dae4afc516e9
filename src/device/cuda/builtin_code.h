#pragma once

#include <string>

namespace ktune::device::cuda {

/// Machine code of kernels/builtin/device_kernels.cu for "sm_90", from the disk cache or compiled now (about a third of
/// a second). Throws Error(kEnvironment) when it cannot be had.
std::string builtin_code(const std::string& target);

}  // namespace ktune::device::cuda
