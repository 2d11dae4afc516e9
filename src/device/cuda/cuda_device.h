#pragma once

#include <memory>

#include "device/device.h"

namespace ktune::device {

/// GPU `ordinal` as the driver counts. Throws Error(kEnvironment) with what to do: no driver, no GPU, a driver too old
/// for the compiler's toolkit, no such ordinal, no compiler.
std::unique_ptr<Device> open_cuda_device(int ordinal, const BuiltinCompiler& compiler);

/// How many GPUs the driver sees; 0 with the reason in `problem` when there is no usable driver. Initialises the driver
/// in this process, but makes no context.
int count_cuda_devices(std::string& problem);

/// True if this process has the driver: a child of it cannot use it.
bool has_cuda_driver();

}  // namespace ktune::device
