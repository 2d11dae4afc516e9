#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/cuda/timed_stream.h"
#include "model/outcome.h"
#include "model/timing.h"

// One maker a timer of a GPU; the table that binds them to model::Timer is in timing.cpp.

namespace ktune::device::cuda {

/// One way to time launches on a GPU.
class GpuTimer {
 public:
  virtual ~GpuTimer() = default;

  /// Whether it is not known to fail here. Cheap: it runs no self-test.
  virtual bool is_offered() { return true; }
  /// Why it cannot be used; {} when it can. May run its self-test, once.
  virtual model::Status check() { return {}; }
  /// Takes `samples` samples, in microseconds, of a rotation that has run before. check() passed.
  virtual model::Result<std::vector<double>> time(std::vector<BoundSequence>& rotation, int samples,
                                                  model::CacheState state) = 0;
};

std::unique_ptr<GpuTimer> make_events_timer(TimedStream& stream);
std::unique_ptr<GpuTimer> make_cupti_timer(TimedStream& stream);
std::unique_ptr<GpuTimer> make_graph_timer(TimedStream& stream);

}  // namespace ktune::device::cuda
