#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/cuda/timed_stream.h"
#include "model/outcome.h"
#include "model/timing.h"

// One maker a timer of a GPU, declared from the rows of model/timers.def.

namespace ktune::device::cuda {

/// One way to time launches on a GPU.
class GpuTimer {
 public:
  virtual ~GpuTimer() = default;

  /// Whether it is not known to fail here. Cheap: it runs no self-test.
  virtual bool is_offered() { return true; }
  /// Why it cannot be used; {} when it can. May run its self-test, once.
  virtual model::Status check() { return {}; }
  /// Takes `samples` samples of a rotation that has run before, or fewer where one was of a wrong launch. check()
  /// passed.
  virtual model::Result<Timed> time(Rotation& rotation, int samples, model::CacheState state) = 0;
};

#define KTUNE_TIMER(...)
#define KTUNE_GPU_TIMER(enumerator, name, ...) std::unique_ptr<GpuTimer> make_##name##_timer(TimedStream& stream);
#include "model/timers.def"

}  // namespace ktune::device::cuda
