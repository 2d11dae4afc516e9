#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"

// The host as a device: kernels compiled by the host's compiler against simt.h, memory from the host's heap. It says
// what a kernel computes and where it goes wrong; its times are the host's and say nothing of a GPU.

namespace ktune::device {

/// With `sanitize`, kernels are built with address and undefined-behaviour sanitizers (target "cpu-sanitize"): then the
/// process must have been started with sanitizer_environment(), and allocations have exactly the size asked for, so
/// that the first byte beyond one is reported; guard bands would hide it. Throws Error(kEnvironment) otherwise.
std::unique_ptr<Device> open_cpu_device(bool sanitize);

/// What to add to the environment of a worker that opens "cpu-sanitize". Throws Error(kEnvironment) when the host's
/// compiler has no sanitizers.
std::vector<std::pair<std::string, std::string>> sanitizer_environment();

}  // namespace ktune::device
