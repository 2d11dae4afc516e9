#include <algorithm>

#include "device/cuda/timers.h"

// A sample is: renew the operands, put L2 into the asked state, event, launches, event, compare; all queued, up to a
// few hundred events, with one wait a batch. Behind an eviction (about 90 µs on an H200) the host is far ahead, so
// launch cost is hidden. In the warm state nothing runs before the kernel, so the stream is held until the batch is
// queued.

namespace ktune::device::cuda {
namespace {

using model::CacheState;
using model::Status;

constexpr int kHoldTries = 3;

class EventsTimer final : public GpuTimer {
 public:
  explicit EventsTimer(TimedStream& stream) : stream_(stream) {}

  model::Result<Timed> time(Rotation& rotation, int samples, CacheState state) override {
    return stream_.in_batches(rotation, samples, state, [&](int first, int count, Timed& timed) {
      return take(rotation, first, count, state, timed.time_us);
    });
  }

 private:
  Status take(Rotation& rotation, int first, int count, CacheState state, std::vector<double>& times) {
    for (int attempt = 1;; ++attempt) {
      if (attempt > 1)
        if (Status status = stream_.checks().begin(rotation, count); !status) return status;
      Hold hold(stream_, stream_.needs_hold(state));
      if (!hold.queued()) return hold.queued();
      if (Status status = queue(rotation, first, count, state); !status) return status;
      hold.release();
      if (Status status = stream_.context().synchronize("running the timed launches"); !status) return status;
      if (!hold.gave_up()) break;
      if (attempt == kHoldTries) {
        return model::fail(model::Outcome::kLaunchFailed,
                           "the stream cannot be held: kernels seem to run one at a time",
                           "a profiler, a debugger or CUDA_LAUNCH_BLOCKING serialises launches");
      }
    }
    for (int i = 0; i < count; ++i) {
      if (Status status = stream_.read(stream_.events(i), times); !status) return status;
    }
    return {};
  }

  Status queue(Rotation& rotation, int first, int count, CacheState state) {
    for (int i = 0; i < count; ++i) {
      BoundCall& call = rotation[static_cast<std::size_t>(first + i) % rotation.size()];
      Status status = stream_.prepare_call(state, call);
      if (status) status = stream_.record(stream_.events(i).start);
      if (status) status = stream_.modules().enqueue(call.launches);
      if (status) status = stream_.record(stream_.events(i).stop);
      if (status) status = stream_.checks().queue(rotation, first + i);
      if (!status) return status;
    }
    return {};
  }

  TimedStream& stream_;
};

}  // namespace

std::unique_ptr<GpuTimer> make_events_timer(TimedStream& stream) { return std::make_unique<EventsTimer>(stream); }

}  // namespace ktune::device::cuda
