#pragma once

#include <functional>
#include <memory>

#include "device/cuda/builtin.h"
#include "device/cuda/context.h"
#include "device/cuda/counters.h"
#include "device/cuda/modules.h"
#include "device/cuda/timed_stream.h"
#include "device/device.h"

namespace ktune::device::cuda {

/// What launches move between one GPU and its memory, by its counters.
class DramCounting {
 public:
  DramCounting(Context& context, Builtin& builtin, Modules& modules, TimedStream& stream)
      : context_(context), builtin_(builtin), modules_(modules), stream_(stream) {}

  model::Result<DramTraffic> traffic(const TimedCall& call);
  model::Result<EvictionProof> prove_eviction();

 private:
  model::Status open();
  /// Traffic of `work` behind `before` and an eviction, the eviction of what it left dirty included.
  model::Result<DramTraffic> with_eviction(const std::function<model::Status()>& before,
                                           const std::function<model::Status()>& work);
  model::Result<DramTraffic> read_behind(bool evicted, DevicePtr memory);

  Context& context_;
  Builtin& builtin_;
  Modules& modules_;
  TimedStream& stream_;
  std::unique_ptr<Counters> counters_;
};

}  // namespace ktune::device::cuda
