#include "measure/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "measure/noise.h"

namespace ktune::measure {
namespace {

bool is_throttled(const Measurement& block) { return throttle_reasons(block.before, block.after) != 0; }

double clock_change(const Measurement& block) {
  if (block.before.sm_clock_mhz <= 0 || block.after.sm_clock_mhz <= 0) return 0.0;  // not known
  return std::abs(block.after.sm_clock_mhz - block.before.sm_clock_mhz);
}

}  // namespace

void Series::add(Measurement block) { blocks_.push_back(std::move(block)); }

int Series::taken() const {
  std::size_t count = 0;
  for (const Measurement& block : blocks_) count += block.samples.time_us.size();
  return static_cast<int>(count);
}

int Series::throttled() const {
  std::size_t count = 0;
  for (const Measurement& block : blocks_)
    if (is_throttled(block)) count += block.samples.time_us.size();
  return static_cast<int>(count);
}

double Series::spent_us() const {
  double spent = 0.0;
  for (const Measurement& block : blocks_) spent += block.cost_us * static_cast<double>(block.samples.time_us.size());
  return spent;
}

double Series::cost_us() const { return blocks_.empty() ? 0.0 : blocks_.back().cost_us; }

bool Series::inconclusive() const { return throttled() * kDroppedShare > taken(); }

bool Series::counts(const Measurement& block) const { return inconclusive() || !is_throttled(block); }

model::Samples Series::samples() const {
  model::Samples all;
  for (const Measurement& block : blocks_) {
    all.timer = block.samples.timer;
    all.cache_state = block.samples.cache_state;
    if (counts(block))
      all.time_us.insert(all.time_us.end(), block.samples.time_us.begin(), block.samples.time_us.end());
  }
  return all;
}

model::TimingSummary Series::summary() const { return summarize(samples()); }

Measurement Series::report() const {
  Measurement whole;
  if (blocks_.empty()) return whole;
  whole.samples = samples();
  whole.before = blocks_.front().before;
  whole.after = blocks_.back().after;
  whole.cost_us = cost_us();
  // A clock may move between blocks, while others are measured: what counts is a block in which it moved.
  const Measurement& worst =
      *std::max_element(blocks_.begin(), blocks_.end(),
                        [](const Measurement& a, const Measurement& b) { return clock_change(a) < clock_change(b); });
  model::MachineState before = worst.before, after = worst.after;
  std::uint64_t reasons = 0;
  for (const Measurement& block : blocks_) {
    reasons |= throttle_reasons(block.before, block.after);
    after.other_processes =
        std::max({after.other_processes, block.before.other_processes, block.after.other_processes});
  }
  before.throttle_bits = after.throttle_bits = 0;  // said below, with how many samples it concerns
  whole.warnings = noise_warnings(whole.samples, before, after);
  if (throttled() == 0) return whole;
  const std::string what = fmt::format(
      "{} of {} samples were taken while the device held its clock down (reasons "
      "0x{:x}){}",
      throttled(), taken(), reasons, inconclusive() ? "" : " and are left out");
  whole.warnings.push_back(warning_text(inconclusive() ? Noise::kInconclusive : Noise::kThrottled, what));
  return whole;
}

}  // namespace ktune::measure
