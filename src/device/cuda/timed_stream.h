#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "device/cuda/builtin.h"
#include "device/cuda/context.h"
#include "device/cuda/launch_checks.h"
#include "device/cuda/modules.h"
#include "model/timing.h"

namespace ktune::device::cuda {

/// What the timers of one GPU share: the stream, its event pairs, the buffer that evicts L2 and the hold.
class TimedStream {
 public:
  struct EventPair {
    CUevent start = nullptr;
    CUevent stop = nullptr;
  };

  TimedStream(Context& context, Builtin& builtin, Modules& modules)
      : context_(context), builtin_(builtin), modules_(modules), checks_(context, builtin) {}
  ~TimedStream();
  TimedStream(const TimedStream&) = delete;
  TimedStream& operator=(const TimedStream&) = delete;

  /// Makes what is below usable; the first call allocates.
  model::Status prepare();

  /// Renews a call's operands; queued.
  model::Status renew(const TimedCall& call);
  /// Renews a call's operands and puts L2 into the asked state before it is timed; queued. Warm: the call runs once and
  /// its operands are renewed again.
  model::Status prepare_call(model::CacheState state, BoundCall& call);
  /// How many kernels prepare_call launches.
  int preparing_kernels(model::CacheState state, const BoundCall& call) const;
  /// Leaves L2 without lines of anybody else's and none of them dirty; queued. Prepares by itself.
  model::Status evict();

  /// Takes samples in batches until all are there or a launch was wrong: `take` queues so many, from number `first`
  /// on, with their checks, waits, and appends their times.
  model::Result<Timed> in_batches(const Rotation& rotation, int samples, model::CacheState state,
                                  const std::function<model::Status(int first, int count, Timed& timed)>& take);
  /// Whether samples of this state need the hold, and it can be had.
  bool needs_hold(model::CacheState state) const { return state == model::CacheState::kWarm && can_hold(); }
  /// Off under tools that run kernels one at a time: the host would wait for a stream that waits for the host.
  bool can_hold() const;

  const EventPair& events(int i) const { return events_[static_cast<std::size_t>(i)]; }
  model::Status record(CUevent event);
  /// Microseconds between a pair's events, once the stream was waited for; appended to `times`.
  model::Status read(const EventPair& pair, std::vector<double>& times);

  Context& context() { return context_; }
  Builtin& builtin() { return builtin_; }
  Modules& modules() { return modules_; }
  LaunchChecks& checks() { return checks_; }

 private:
  friend class Hold;
  /// How many samples may be queued before the host waits.
  int batch_size(model::CacheState state, const Rotation& rotation) const;
  /// Cold or dirty.
  model::Status set_cache(model::CacheState state);
  model::Status prepare_scratch();
  model::Status prepare_events();

  Context& context_;
  Builtin& builtin_;
  Modules& modules_;
  LaunchChecks checks_;
  std::vector<EventPair> events_;
  CUdeviceptr scratch_ = 0;  ///< overwritten to evict
  CUdeviceptr clean_ = 0;    ///< read to evict, below sm_80
  std::int64_t evict_bytes_ = 0;
  std::uint32_t evictions_ = 0;
  std::uint32_t* flags_ = nullptr;  ///< mapped host memory: [0] the hold's flag, [1] the last goal it gave up on
  CUdeviceptr flags_at_ = 0;
  std::uint32_t goal_ = 0;
};

/// Holds the stream, so that what is queued next runs without gaps; raises the flag when it goes out of scope, so that
/// no early return leaves the stream held.
class Hold {
 public:
  /// Nothing is held where it is not `wanted`.
  Hold(TimedStream& stream, bool wanted);
  ~Hold() { release(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  /// Whether the hold's kernel could be queued.
  const model::Status& queued() const { return queued_; }
  void release();
  /// Only after the stream was waited for: kernels ran one at a time, and the samples mean nothing.
  bool gave_up() const;

 private:
  std::uint32_t* flags_ = nullptr;  ///< null: nothing is held
  std::uint32_t goal_ = 0;
  model::Status queued_;
};

}  // namespace ktune::device::cuda
