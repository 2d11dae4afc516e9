#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "device/cuda/cupti.h"
#include "device/cuda/timers.h"

// A sample is the span from its first kernel's start to its last one's end. Records are told apart by counting: exactly
// as many as were launched must come back. Warm samples are held as with events: a call of several kernels would have
// the launches' gaps in its span.

namespace ktune::device::cuda {
namespace {

using model::CacheState;
using model::Outcome;
using model::Status;

constexpr double kTestUs = 20.0;

class CuptiTimer final : public GpuTimer {
 public:
  explicit CuptiTimer(TimedStream& stream) : stream_(stream) {}

  bool is_offered() override {
    const bool failed = tested_ && !*tested_;
    return !failed && missing().empty();
  }

  Status check() override {
    if (Status status = stream_.context().usable(); !status) return status;
    if (!tested_) tested_ = test();
    return *tested_;
  }

  model::Result<Timed> time(Rotation& rotation, int samples, CacheState state) override {
    return stream_.in_batches(rotation, samples, state, [&](int first, int count, Timed& timed) {
      return take(rotation, first, count, state, timed.time_us);
    });
  }

 private:
  /// Why the library cannot be used at all; loads it.
  const std::string& missing() {
    if (!cupti_) cupti_ = std::make_unique<Cupti>();
    return cupti_->problem();
  }

  /// A kernel of known length must come back with that length, or CUPTI's times mean nothing here.
  Status test() {
    if (std::string problem = missing(); !problem.empty()) return model::fail(Outcome::kRejected, problem);
    if (std::string problem = cupti_->start(); !problem.empty()) return model::fail(Outcome::kRejected, problem);
    Status queued;
    for (int i = 0; i < 4 && queued; ++i) queued = stream_.builtin().spin_us(kTestUs);  // the first ones may be odd
    if (queued) queued = stream_.context().synchronize("CUPTI's self-test");
    std::string problem;
    const std::vector<KernelRecord> records = cupti_->stop(problem);
    if (!queued) return queued;
    if (problem.empty() && records.size() != 4) problem = fmt::format("CUPTI recorded {} kernels of 4", records.size());
    if (problem.empty()) {
      const double us = static_cast<double>(records[3].end_ns - records[3].start_ns) * 1e-3;
      if (us < 0.9 * kTestUs || us > 1.1 * kTestUs + 2.0) {
        problem = fmt::format("CUPTI says {:.1f} µs of a kernel that lasts {:.0f}", us, kTestUs);
      }
    }
    if (!problem.empty()) return model::fail(Outcome::kRejected, problem);
    return {};
  }

  Status take(Rotation& rotation, int first, int count, CacheState state, std::vector<double>& times) {
    if (std::string problem = cupti_->start(); !problem.empty()) return model::fail(Outcome::kLaunchFailed, problem);
    const bool held = stream_.needs_hold(state);
    Hold hold(stream_, held);
    Status queued = hold.queued();
    std::size_t expected = held ? 1 : 0;
    for (int i = 0; i < count && queued; ++i) {
      BoundCall& call = rotation[static_cast<std::size_t>(first + i) % rotation.size()];
      expected += kernels_before(state, call) + call.launches.size() + call.call->checks.size();
      queued = stream_.prepare_call(state, call);
      if (queued) queued = stream_.modules().enqueue(call.launches);
      if (queued) queued = stream_.checks().queue(rotation, first + i);
    }
    hold.release();
    if (queued) queued = stream_.context().synchronize("running the timed launches");
    std::string problem;
    const std::vector<KernelRecord> records = cupti_->stop(problem);
    if (!queued) return queued;
    if (problem.empty() && records.size() != expected) {
      problem = fmt::format("CUPTI recorded {} kernels of {}", records.size(), expected);
    }
    if (problem.empty() && hold.gave_up()) problem = "the stream cannot be held: kernels seem to run one at a time";
    if (!problem.empty()) return model::fail(Outcome::kLaunchFailed, problem);
    std::size_t at = held ? 1 : 0;
    for (int i = 0; i < count; ++i) {
      const BoundCall& call = rotation[static_cast<std::size_t>(first + i) % rotation.size()];
      at += kernels_before(state, call);
      times.push_back(span_us(records, at, call.launches.size()));
      at += call.launches.size() + call.call->checks.size();
    }
    return {};
  }

  std::size_t kernels_before(CacheState state, const BoundCall& call) const {
    return static_cast<std::size_t>(stream_.preparing_kernels(state, call));
  }

  static double span_us(const std::vector<KernelRecord>& records, std::size_t at, std::size_t count) {
    std::uint64_t start = ~std::uint64_t{0};
    std::uint64_t end = 0;
    for (std::size_t k = at; k < at + count; ++k) {
      start = std::min(start, records[k].start_ns);
      end = std::max(end, records[k].end_ns);
    }
    return static_cast<double>(end - start) * 1e-3;
  }

  TimedStream& stream_;
  std::unique_ptr<Cupti> cupti_;
  std::optional<Status> tested_;  ///< what the self-test said, once it ran
};

}  // namespace

std::unique_ptr<GpuTimer> make_cupti_timer(TimedStream& stream) { return std::make_unique<CuptiTimer>(stream); }

}  // namespace ktune::device::cuda
