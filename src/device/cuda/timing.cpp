#include "device/cuda/timing.h"

#include <fmt/format.h>

#include <array>

namespace ktune::device::cuda {
namespace {

using model::Outcome;
using model::Status;
using model::Timer;

constexpr std::size_t kGraphCalls = 24;              // of a probe: a graph launches each call of its rotation once
constexpr std::uint32_t kProbePattern = 0x3f9d70a4;  // zeros would draw less power

struct TimerMaker {
  Timer timer;
  std::unique_ptr<GpuTimer> (*make)(TimedStream& stream);
};

/// The timers of a GPU, the default first.
constexpr std::array kMakers{
#define KTUNE_TIMER(...)
#define KTUNE_GPU_TIMER(enumerator, name, ...) TimerMaker{Timer::k##enumerator, make_##name##_timer},
#include "model/timers.def"
};

tl::unexpected<model::Failure> pass(const Status& status) { return tl::unexpected(status.error()); }

}  // namespace

Timing::Timing(TimedStream& stream) : stream_(stream) {
  for (const TimerMaker& maker : kMakers) timers_.push_back({maker.timer, maker.make(stream)});
}

GpuTimer* Timing::find(Timer timer) {
  for (const Bound& bound : timers_)
    if (bound.timer == timer) return bound.way.get();
  return nullptr;
}

model::Result<Timed> Timing::time(std::span<const TimedCall> rotation, const TimingRequest& request) {
  if (rotation.empty()) return model::fail(Outcome::kLaunchFailed, "nothing to time");
  if (Status status = stream_.prepare(); !status) return pass(status);
  Rotation bound;
  for (const TimedCall& call : rotation) {
    auto one = stream_.modules().bind(call.launches);
    if (!one) return tl::unexpected(one.error());
    bound.push_back({std::move(*one), &call});
  }
  return time_bound(bound, request);
}

model::Result<Timed> Timing::time_bound(Rotation& rotation, const TimingRequest& request) {
  GpuTimer* timer = find(request.timer);
  if (timer == nullptr)
    return model::fail(Outcome::kLaunchFailed, fmt::format("a GPU has no timer '{}'", model::name_of(request.timer)));
  if (Status status = timer->check(); !status) return pass(status);
  return timer->time(rotation, request.samples, request.cache_state);
}

/// As a variant is timed, after one launch of its own that is neither held nor timed.
model::Result<std::vector<double>> Timing::time_probe(const Probe& probe, const TimingRequest& request) {
  if (Status status = stream_.prepare(); !status) return pass(status);
  Context& context = stream_.context();
  const Driver& api = context.api();
  std::array<std::uint64_t, 3> words{};
  CUdeviceptr memory = 0;
  Status status;
  if (probe.kind == Probe::Kind::kCopy) {
    status = context.status(api.mem_alloc(&memory, static_cast<std::size_t>(2 * probe.bytes)), "allocating memory");
    if (status) status = stream_.builtin().poison(memory, 2 * probe.bytes, kProbePattern);
    words = {memory, memory + static_cast<CUdeviceptr>(probe.bytes), 0};
  }
  const TimedCall nothing_to_renew;
  const std::size_t calls = request.timer == Timer::kGraph ? kGraphCalls : 1;
  Rotation rotation(calls, {stream_.builtin().bind_probe(probe, words), &nothing_to_renew});
  if (status) status = stream_.modules().enqueue(rotation.front().launches);
  if (status) status = context.synchronize("running a probe");
  model::Result<Timed> timed = Timed();
  if (status) timed = time_bound(rotation, request);
  if (memory != 0) api.mem_free(memory);
  if (!status) return pass(status);
  if (!timed) return tl::unexpected(timed.error());
  return std::move(timed->time_us);
}

std::vector<Timer> Timing::timers() {
  std::vector<Timer> timers;
  for (const Bound& bound : timers_)
    if (bound.way->is_offered()) timers.push_back(bound.timer);
  return timers;
}

std::string Timing::problem(Timer timer) {
  GpuTimer* way = find(timer);
  if (way == nullptr) return fmt::format("this device has no timer '{}'", model::name_of(timer));
  const Status usable = way->check();
  return usable ? std::string() : usable.error().reason;
}

}  // namespace ktune::device::cuda
