#include "sweep/timer.h"

#include <fmt/format.h>

#include "base/text.h"
#include "measure/measure.h"
#include "stats/stats.h"

namespace ktune::sweep {

namespace {

constexpr const char* kEvents = "events";
constexpr const char* kCupti = "cupti";
constexpr int kDecisionSamples = 20;
constexpr int kTrialSamples = 8;  // of CUPTI: its self-test comes with the first

}  // namespace

TimerChoice choose_timer(trial::Bench& bench, std::int64_t variant, const model::DeviceFacts& facts,
                         model::CacheState cache_state) {
  trial::MeasureRequest request;
  request.cache_state = cache_state;
  request.samples = facts.kind == "cuda" ? kDecisionSamples : 1;
  request.timer = facts.kind == "cuda" ? kEvents : "auto";
  const auto first = bench.measure(variant, request);
  if (!first) return {"", "", first.error()};
  if (facts.kind != "cuda") return {std::string(name_of(first->samples.timer)), "the device's own", {}};
  const double time_us = stats::median(first->samples.time_us);
  const std::string said = fmt::format("the default takes {} by events", format_time_us(time_us));
  if (time_us >= kCuptiBelowUs) return {kEvents, said, {}};
  request.samples = kTrialSamples;
  request.timer = kCupti;
  const auto by_cupti = bench.measure(variant, request);
  if (by_cupti) return {kCupti, said, {}};
  return {kEvents, fmt::format("{}; CUPTI cannot be used: {}", said, by_cupti.error().reason), {}};
}

bool auto_decides(const model::DeviceFacts& facts, const Options& options) {
  return options.timer == "auto" && facts.kind == "cuda";
}

std::string timer_part(const model::DeviceFacts& facts, const Options& options, const std::string& timer) {
  return auto_decides(facts, options) ? "auto: " + timer : options.timer;
}

}  // namespace ktune::sweep
