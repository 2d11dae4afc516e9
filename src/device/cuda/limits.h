#pragma once

#include <cstdint>
#include <string>

#include "model/outcome.h"
#include "model/plan.h"

// Whether a launch fits a GPU, decided from numbers alone, before anything is launched.

namespace ktune::device::cuda {

struct GpuLimits {
  int sm = 0;  ///< compute capability × 10
  int max_threads = 1024;
  int registers_per_block = 65536;
  std::int64_t smem_optin = 0;  ///< static and dynamic together, bytes
};

/// What the driver says of a loaded kernel.
struct KernelNeeds {
  std::string name;
  int registers = 0;
  std::int64_t static_smem = 0;
  int max_threads = 1024;  ///< its launch bounds, or what its registers allow
};

/// The limits of every space (model/limits.h) as a last check, and those of the compiled kernel. kRejected with the
/// reason, in the units a person set: "640 threads × 128 registers exceed 65536".
model::Status check_limits(const GpuLimits& limits, const KernelNeeds& kernel, const model::LaunchPlan& plan);

}  // namespace ktune::device::cuda
