#pragma once

#include "device/cpu/simt_abi.h"
#include "device/device.h"
#include "model/facts.h"
#include "model/outcome.h"

namespace ktune::device::cpu {

/// The limits of a GPU's launch, with the reason as a GPU's would be; clusters are refused.
model::Status check_limits(const PreparedLaunch& launch, const model::DeviceFacts& facts);

/// kLaunchFailed when the arguments are not what the kernel takes: their number, a size, a pointer where a number is
/// expected, an integer that a 32-bit parameter cannot hold. A GPU would read garbage without a word.
model::Status check_arguments(const PreparedLaunch& launch, const ktune_cpu::Entry& entry);

}  // namespace ktune::device::cpu
