#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "device/cuda/builtin.h"
#include "device/cuda/context.h"
#include "device/cuda/modules.h"

namespace ktune::device::cuda {

/// A call in the driver's words.
struct BoundCall {
  BoundSequence launches;
  const TimedCall* call = nullptr;  ///< must outlive this
};
using Rotation = std::vector<BoundCall>;

/// Comparisons that are queued behind timed launches, and read once the stream was waited for: a timer that waited for
/// each would not keep the stream busy.
class LaunchChecks {
 public:
  LaunchChecks(Context& context, Builtin& builtin) : context_(context), builtin_(builtin) {}
  ~LaunchChecks();
  LaunchChecks(const LaunchChecks&) = delete;
  LaunchChecks& operator=(const LaunchChecks&) = delete;

  /// Forgets what was queued, and makes room for so many launches of a rotation; queued.
  model::Status begin(const Rotation& rotation, int launches);
  /// Compares a share of each output of the call that launch number `sample` ran; one kernel a check.
  model::Status queue(const Rotation& rotation, int sample);
  /// The first launch since begin() that was wrong.
  model::Result<std::optional<WrongLaunch>> read();

 private:
  struct Queued {
    const OutputCheck* check;
    WrongLaunch place;
  };

  Context& context_;
  Builtin& builtin_;
  CUdeviceptr answers_ = 0;
  std::size_t room_ = 0;  ///< answers
  std::vector<Queued> queued_;
};

}  // namespace ktune::device::cuda
