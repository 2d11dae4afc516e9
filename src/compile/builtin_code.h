#pragma once

#include <memory>
#include <string>

#include "device/device.h"

// ktune's own kernels for a GPU. A device cannot compile them itself, so it is handed a compiler.

namespace ktune::compile {

/// Machine code of kernels/builtin/device_kernels.cu for "sm_90", from the disk cache or compiled now (about a third of
/// a second). Throws Error(kEnvironment) when it cannot be had.
std::string builtin_code(const std::string& target);

/// NVRTC, as a GPU needs it.
device::BuiltinCompiler builtin_compiler();

/// device::open_device with that compiler.
std::unique_ptr<device::Device> open_device(const std::string& name);

}  // namespace ktune::compile
