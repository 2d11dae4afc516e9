#pragma once

#include <cstdint>
#include <vector>

#include "device/cuda/builtin.h"
#include "device/cuda/context.h"
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
      : context_(context), builtin_(builtin), modules_(modules) {}
  ~TimedStream();
  TimedStream(const TimedStream&) = delete;
  TimedStream& operator=(const TimedStream&) = delete;

  /// Makes what is below usable; the first call allocates.
  model::Status prepare();

  /// Puts L2 into the asked state before a launch of `sequence`; queued.
  model::Status set_cache(model::CacheState state, BoundSequence& sequence);
  /// How many kernels set_cache launches.
  int preparing_kernels(model::CacheState state, const BoundSequence& sequence) const;
  /// Leaves L2 without lines of anybody else's and none of them dirty; queued. Prepares by itself.
  model::Status evict();

  /// How many samples may be queued before the host waits.
  int batch_size(model::CacheState state, const std::vector<BoundSequence>& rotation) const;
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

 private:
  friend class Hold;
  model::Status prepare_scratch();
  model::Status prepare_events();

  Context& context_;
  Builtin& builtin_;
  Modules& modules_;
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
