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
constexpr int kMostSets = 64;
constexpr std::int64_t kMostSetBytes = std::int64_t{1} << 30;

/// Wall time of one sample, in microseconds. A scripted device takes no time: there the samples themselves count, so
/// that the same script always gives the same number of samples.
double cost_of_one(const std::vector<double>& times, const device::TimingRequest& request, double wall_s) {
  const double median_us = times.empty() ? 0.0 : stats::median(times);
  return row_of(request.timer).takes_time ? std::max(median_us, wall_s * 1e6 / request.samples) : median_us;
}

/// A clock that gives what is no number is the machine's fault, and no figure of it may go on.
model::Result<std::vector<double>> time(device::Device& device, std::span<const device::LaunchSequence> rotation,
                                        const device::TimingRequest& request) {
  model::Result<std::vector<double>> times = device.time(rotation, request);
  if (!times) return times;
  for (const double time_us : *times)
    if (!std::isfinite(time_us))
      return model::fail_transient(model::Outcome::kLaunchFailed,
                                   fmt::format("the timer {} gave {} µs", name_of(request.timer), time_us));
  return times;
}

model::Result<double> sample_cost_us(device::Device& device, std::span<const device::LaunchSequence> rotation,
                                     const device::TimingRequest& request) {
  const double start = now_s();
  const model::Result<std::vector<double>> times = time(device, rotation, request);
  if (!times) return tl::unexpected(times.error());
  return cost_of_one(*times, request, now_s() - start);
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
  std::int64_t sets = 2;
  if (!evicts) {
    const std::int64_t l2 = facts.kind == "cpu" ? 0 : facts.l2_bytes;
    sets = std::clamp<std::int64_t>((4 * l2 + bytes - 1) / bytes, 3, kMostSets);
  }
  return static_cast<int>(std::clamp<std::int64_t>(kMostSetBytes / bytes, 1, sets));
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

model::Status warm_up(device::Device& device, std::span<const device::LaunchSequence> rotation, double duration_ms) {
  const double end = now_s() + duration_ms * 1e-3;
  for (const device::LaunchSequence& sequence : rotation) {
    if (const model::Status done = device.launch(sequence); !done) return done;
  }
  if (const model::Status done = device.synchronize(); !done) return done;
  std::size_t next = 0;
  for (int batch = 1; now_s() < end; batch = std::min(2 * batch, kWarmUpBatch)) {
    for (int i = 0; i < batch; ++i, next = (next + 1) % rotation.size()) {
      if (const model::Status done = device.launch(rotation[next]); !done) return done;
    }
    if (const model::Status done = device.synchronize(); !done) return done;
  }
  return {};
}

model::Result<Measurement> take_samples(device::Device& device, std::span<const device::LaunchSequence> rotation,
                                        const Request& request) {
  const model::Result<model::Timer> timer = choose_timer(request.timer, device.timers());
  if (!timer) return tl::unexpected(timer.error());
  device::TimingRequest timing{kEstimateSamples, request.cache_state, *timer};
  if (request.samples > 0) {
    timing.samples = request.samples;
  } else {
    const model::Result<double> cost = sample_cost_us(device, rotation, timing);
    if (!cost) return tl::unexpected(cost.error());
    timing.samples = sample_count(request, *cost);
  }
  Measurement report;
  report.before = device.state();
  const double start = now_s();
  model::Result<std::vector<double>> times = time(device, rotation, timing);
  if (!times) return tl::unexpected(times.error());
  report.cost_us = cost_of_one(*times, timing, now_s() - start);
  report.after = device.state();
  report.samples = {std::move(*times), *timer, request.cache_state};
  report.warnings = noise_warnings(report.samples, report.before, report.after);
  return report;
}

}  // namespace ktune::measure
