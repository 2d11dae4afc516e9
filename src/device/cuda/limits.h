#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "model/outcome.h"
#include "model/plan.h"

// Whether a launch fits a GPU, decided from numbers alone, before anything is launched.

namespace ktune::device::cuda {

/// Blocks of a cluster or grid, threads of a block.
inline std::int64_t volume(const std::array<std::int64_t, 3>& extent) { return extent[0] * extent[1] * extent[2]; }

struct GpuLimits {
  int sm = 0;  ///< compute capability × 10
  int max_threads = 1024;
  int registers_per_block = 65536;
  std::int64_t smem_optin = 0;  ///< static and dynamic together, bytes
  bool clusters = false;
};

/// What the driver says of a loaded kernel.
struct KernelNeeds {
  std::string name;
  int registers = 0;
  std::int64_t static_smem = 0;
  int max_threads = 1024;  ///< its launch bounds, or what its registers allow
};

/// kRejected with the reason, in the units a person set: "rmsnorm needs 300 KiB of shared memory, the device has
/// 227 KiB a block", "640 threads × 128 registers exceed 65536".
model::Status check_limits(const GpuLimits& limits, const KernelNeeds& kernel, const model::LaunchPlan& plan);

}  // namespace ktune::device::cuda
