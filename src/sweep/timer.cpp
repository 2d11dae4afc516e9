#include "sweep/timer.h"

#include <fmt/format.h>

#include "base/text.h"
#include "measure/measure.h"
#include "stats/stats.h"

namespace ktune::sweep {

namespace {

constexpr int kDecisionSamples = 20;
constexpr int kTrialSamples = 8;  // of a finer timer: its self-test comes with the first

}  // namespace

model::Result<TimerChoice> choose_timer(trial::Bench& bench, std::int64_t variant, const model::DeviceFacts& facts,
                                        model::CacheState cache_state) {
  const std::vector<model::Timer> timers = model::auto_timers(facts.kind);
  const bool decides = model::auto_decides(facts.kind);
  measure::Request request;
  request.cache_state = cache_state;
  request.samples = decides ? kDecisionSamples : 1;
  if (decides) request.timer = timers.front();
  const auto first = bench.measure(variant, request);
  if (!first) return tl::unexpected(first.error());
  if (!decides) return TimerChoice{first->samples.timer, "the device's own"};
  const double time_us = stats::median(first->samples.time_us);
  TimerChoice choice{timers.front(),
                     fmt::format("the default takes {} by {}", format_time_us(time_us), name_of(timers.front()))};
  request.samples = kTrialSamples;
  for (const model::Timer finer : timers) {
    if (time_us >= row_of(finer).auto_below_us) continue;
    request.timer = finer;
    const auto there = bench.measure(variant, request);
    if (there) return TimerChoice{finer, choice.why};
    choice.why += fmt::format("; {} cannot be used: {}", row_of(finer).title, there.error().reason);
  }
  return choice;
}

bool auto_decides(const model::DeviceFacts& facts, const Options& options) {
  return options.timer.is_auto() && model::auto_decides(facts.kind);
}

std::string timer_part(const model::DeviceFacts& facts, const Options& options, const model::TimerRequest& timer) {
  if (auto_decides(facts, options)) return fmt::format("auto: {}", name_of(timer));
  return std::string(name_of(options.timer));
}

}  // namespace ktune::sweep
