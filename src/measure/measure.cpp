#include "measure/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "measure/noise.h"
#include "stats/stats.h"

namespace ktune::measure {
namespace {

/// Most launches queued between two looks at the clock while warming up; the batches grow up to this, so that a slow
/// kernel is not launched long past the end.
constexpr int kWarmUpBatch = 8;
/// Launches of an estimate.
constexpr int kEstimateSamples = 5;
constexpr int kLeastSets = 2;
constexpr int kWarmSets = 3;
constexpr int kGraphSets = 24;
constexpr int kMostSets = 64;
constexpr std::int64_t kMostSetBytes = std::int64_t{1} << 30;

/// Wall time of one sample, in microseconds. A scripted device takes no time: there the samples themselves count, so
/// that the same script always gives the same number of samples.
double cost_of_one(const std::vector<double>& times, const device::TimingRequest& request, double wall_s) {
  const double median_us = times.empty() ? 0.0 : stats::median(times);
  return row_of(request.timer).takes_time ? std::max(median_us, wall_s * 1e6 / request.samples) : median_us;
}

/// A clock that gives what is no number is the machine's fault, and no figure of it may go on.
model::Result<device::Timed> time(device::Device& device, std::span<const device::TimedCall> rotation,
                                  const device::TimingRequest& request) {
  model::Result<device::Timed> timed = device.time(rotation, request);
  if (!timed) return timed;
  for (const double time_us : timed->time_us)
    if (!std::isfinite(time_us))
      return model::fail_transient(model::Outcome::kLaunchFailed,
                                   fmt::format("the timer {} gave {} µs", name_of(request.timer), time_us));
  return timed;
}

}  // namespace

model::Result<model::Timer> choose_timer(const model::TimerRequest& asked, std::span<const model::Timer> offered) {
  if (offered.empty()) return model::fail(model::Outcome::kRejected, "this device offers no timer");
  if (asked.is_auto()) return offered.front();
  std::vector<std::string> names;
  for (const model::Timer timer : offered) {
    if (timer == *asked.named) return timer;
    names.emplace_back(model::name_of(timer));
  }
  return model::fail(
      model::Outcome::kRejected,
      fmt::format("the timer '{}' is not available on this device; it has: {}", name_of(asked), join(names, ", ")));
}

int sample_count(const Request& request, double cost_us) {
  if (request.samples > 0) return request.samples;
  const int least = std::max(request.min_samples, 1);
  const int most = std::max(request.max_samples, least);
  const double fits = cost_us > 0 ? std::floor(request.budget_ms * 1e3 / cost_us) : most;
  return static_cast<int>(std::clamp<double>(fits, least, most));
}

int rotation_sets(const model::DeviceFacts& facts, std::int64_t set_bytes, model::CacheState cache_state,
                  model::Timer timer) {
  const bool evicts = cache_state != model::CacheState::kWarm && row_of(timer).evicts;
  const std::int64_t bytes = std::max<std::int64_t>(set_bytes, 1);
  if (evicts) return kLeastSets;
  const std::int64_t l2 = facts.kind == "cpu" ? 0 : facts.l2_bytes;
  const std::int64_t least = timer == model::Timer::kGraph ? kGraphSets : kWarmSets;
  const std::int64_t sets = std::clamp<std::int64_t>((4 * l2 + bytes - 1) / bytes, least, kMostSets);
  return static_cast<int>(std::clamp<std::int64_t>(kMostSetBytes / bytes, kLeastSets, sets));
}

model::TimingSummary summarize(const model::Samples& samples) {
  model::TimingSummary summary;
  summary.n = static_cast<int>(samples.time_us.size());
  if (samples.time_us.empty()) return summary;
  summary.time_us = stats::median(samples.time_us);
  summary.mean_us = stats::trimmed_mean(samples.time_us, kTrimmed);
  summary.min_us = *std::min_element(samples.time_us.begin(), samples.time_us.end());
  summary.p10_us = stats::quantile(samples.time_us, 0.1);
  summary.p90_us = stats::quantile(samples.time_us, 0.9);
  const stats::Interval interval = stats::median_interval(samples.time_us, kLevel);
  summary.ci_low_us = interval.low;
  summary.ci_high_us = interval.high;
  summary.ci_level = interval.level;
  return summary;
}

model::Status warm_up(device::Device& device, std::span<const device::TimedCall> rotation, double duration_ms) {
  const double end = now_s() + duration_ms * 1e-3;
  for (const device::TimedCall& call : rotation) {
    if (const model::Status done = launch_fresh(device, call); !done) return done;
  }
  if (const model::Status done = device.synchronize(); !done) return done;
  std::size_t next = 0;
  for (int batch = 1; now_s() < end; batch = std::min(2 * batch, kWarmUpBatch)) {
    for (int i = 0; i < batch; ++i, next = (next + 1) % rotation.size()) {
      if (const model::Status done = launch_fresh(device, rotation[next]); !done) return done;
    }
    if (const model::Status done = device.synchronize(); !done) return done;
  }
  return {};
}

model::Result<Measurement> take_samples(device::Device& device, std::span<const device::TimedCall> rotation,
                                        const Request& request) {
  const model::Result<model::Timer> timer = choose_timer(request.timer, device.timers());
  if (!timer) return tl::unexpected(timer.error());
  device::TimingRequest timing{kEstimateSamples, request.cache_state, *timer};
  Measurement report;
  if (request.samples > 0) {
    timing.samples = request.samples;
  } else {
    const double start = now_s();
    const model::Result<device::Timed> estimate = time(device, rotation, timing);
    if (!estimate) return tl::unexpected(estimate.error());
    if ((report.wrong = estimate->wrong)) return report;
    timing.samples = sample_count(request, cost_of_one(estimate->time_us, timing, now_s() - start));
  }
  report.before = device.state();
  const double start = now_s();
  model::Result<device::Timed> timed = time(device, rotation, timing);
  if (!timed) return tl::unexpected(timed.error());
  report.cost_us = cost_of_one(timed->time_us, timing, now_s() - start);
  report.after = device.state();
  report.wrong = timed->wrong;
  report.samples = {std::move(timed->time_us), *timer, request.cache_state};
  report.warnings = noise_warnings(report.samples, report.before, report.after);
  return report;
}

}  // namespace ktune::measure
