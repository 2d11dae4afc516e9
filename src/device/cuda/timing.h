#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/cuda/timed_stream.h"
#include "device/cuda/timers.h"
#include "device/device.h"

namespace ktune::device::cuda {

/// Times launches on one GPU, by any of its timers.
class Timing {
 public:
  explicit Timing(TimedStream& stream);

  model::Result<Timed> time(std::span<const TimedCall> rotation, const TimingRequest& request);
  model::Result<std::vector<double>> time_probe(const Probe& probe, const TimingRequest& request);
  /// Those not known to fail here.
  std::vector<model::Timer> timers();
  /// Why a timer cannot be had here; empty when it can. May run its self-test, once.
  std::string problem(model::Timer timer);

 private:
  struct Bound {
    model::Timer timer;
    std::unique_ptr<GpuTimer> way;
  };
  GpuTimer* find(model::Timer timer);
  model::Result<Timed> time_bound(Rotation& rotation, const TimingRequest& request);

  TimedStream& stream_;
  std::vector<Bound> timers_;
};

}  // namespace ktune::device::cuda
