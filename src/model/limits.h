#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/facts.h"
#include "model/plan.h"

namespace ktune::model {

/// Blocks of a cluster or grid, threads of a block.
inline std::int64_t volume(const std::array<std::int64_t, 3>& extent) { return extent[0] * extent[1] * extent[2]; }

/// A limit of a device that a launch breaks.
struct LimitBreach {
  std::string limit;  ///< the same for every launch that breaks it: "more than 1024 threads a block"
  std::string text;   ///< "block of 2048 threads: the device allows 1024"
};

/// The first limit that the launch breaks: sizes of the grid, the block and the cluster, dynamic shared memory,
/// clusters on a device without them. What only the compiled kernel tells (registers, static shared memory) is not
/// looked at.
std::optional<LimitBreach> limit_broken(const LaunchPlan& launch, const DeviceFacts& device);

/// Whether scratch needs more memory than the device has.
std::optional<LimitBreach> limit_broken(const std::vector<TensorPlan>& scratch, const DeviceFacts& device);

}  // namespace ktune::model
