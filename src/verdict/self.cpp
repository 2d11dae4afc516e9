#include "verdict/self.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "stats/stats.h"
#include "verdict/pairs.h"
#include "verdict/signal.h"

namespace ktune::verdict {
namespace {

constexpr std::size_t kAllPatterns = 12;  // up to here each of the 2^K sign patterns is tried

double false_share_of(const std::vector<double>& shifts, double visible, double alpha) {
  const bool all = shifts.size() <= kAllPatterns;
  const std::uint64_t tries = std::uint64_t{1} << (all ? shifts.size() : kAllPatterns);
  std::mt19937_64 random(1);
  std::uint64_t flagged = 0;
  std::vector<double> signed_shifts(shifts.size());
  for (std::uint64_t i = 0; i < tries; ++i) {
    std::uint64_t pattern = i;
    for (std::size_t k = 0; k < shifts.size(); ++k) {
      if (!all && k % 64 == 0) pattern = random();
      signed_shifts[k] = (pattern >> (k % 64)) & 1U ? -shifts[k] : shifts[k];
    }
    flagged += signal_of(signed_shifts, visible, alpha) == Signal::kSlower ? 1 : 0;
  }
  return static_cast<double>(flagged) / static_cast<double>(tries);
}

SelfComparison summarise(const model::Comparison& comparison, double pair_sd, const Rules& rules) {
  SelfComparison self;
  self.op = comparison.op;
  self.problem = comparison.problem;
  const Round first = read_round(comparison.pairs);
  const std::size_t pairs = first.shifts.size();
  self.pairs = static_cast<int>(pairs);
  if (pairs < 2) return self;
  self.time_us = first.base_us;
  const double process_sd = stats::standard_deviation(first.shifts) / std::sqrt(2.0);
  self.process_sd_us = process_sd * first.base_us;
  self.process_sd_pct = 100.0 * process_sd;
  self.pair_sd_pct = 100.0 * pair_sd;
  const double delta = delta_of(first.base_us, rules);
  self.delta_pct = percent_of(delta);
  if (!decidable(pairs, rules)) return self;
  const double visible = visible_of(delta, pair_sd, pairs);
  self.false_share = false_share_of(first.shifts, visible, rules.alpha);
  const Signal signal = signal_of(first.shifts, visible, rules.alpha);
  self.suspected = signal != Signal::kQuiet;
  const Round fresh = read_round(comparison.fresh_pairs);
  const double fresh_visible = visible_of(delta, pair_sd, fresh.shifts.size());
  self.confirmed = self.suspected && signal == signal_of(fresh.shifts, fresh_visible, rules.alpha);
  self.detectable_pct = detectable_pct(pair_sd, self.delta_pct, self.pairs);
  return self;
}

std::string cell(double value, int digits) { return std::isnan(value) ? "–" : fmt::format("{:.{}f}", value, digits); }

}  // namespace

std::vector<SelfComparison> compare_with_itself(std::span<const model::Comparison> comparisons, const Rules& rules,
                                                const std::optional<model::ProcessNoise>& stored) {
  check(rules);
  const PairNoise noise(comparisons, stored);
  std::vector<SelfComparison> kernels;
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    kernels.push_back(summarise(comparisons[i], noise.sd_of(i), rules));
  }
  return kernels;
}

Table self_table(std::span<const SelfComparison> kernels) {
  Table table;
  table.columns = {{"op", false, 0},
                   {"problem", false, 0},
                   {"time µs", true, 0},
                   {"pairs", true, 3},
                   {"process sd µs", true, 0},
                   {"process sd %", true, 0},
                   {"false alarms % a round", true, 2},
                   {"called", false, 1},
                   {"delta %", true, 4},
                   {"detects %", true, 0}};
  for (const SelfComparison& kernel : kernels) {
    const char* called = kernel.confirmed ? "twice" : kernel.suspected ? "once" : "no";
    table.rows.push_back({kernel.op, kernel.problem, cell(kernel.time_us, 2), fmt::to_string(kernel.pairs),
                          cell(kernel.process_sd_us, 3), cell(kernel.process_sd_pct, 2),
                          cell(100.0 * kernel.false_share, 2), std::isnan(kernel.false_share) ? "–" : called,
                          cell(kernel.delta_pct, 2), cell(kernel.detectable_pct, 1)});
  }
  return table;
}

std::vector<std::string> self_notes(std::span<const SelfComparison> kernels, const model::ProcessNoise& fitted) {
  int judged = 0;
  int suspected = 0;
  int confirmed = 0;
  double once = 0.0;
  double twice = 0.0;
  double worst = 0.0;
  for (const SelfComparison& kernel : kernels) {
    if (std::isnan(kernel.false_share)) continue;
    ++judged;
    suspected += kernel.suspected ? 1 : 0;
    confirmed += kernel.confirmed ? 1 : 0;
    once += kernel.false_share;
    twice += kernel.false_share * kernel.false_share;
    worst = std::max(worst, kernel.detectable_pct);
  }
  std::vector<std::string> notes;
  if (fitted.kernels > 0) {
    notes.push_back(
        fmt::format("one process' figure has a sd of {:.3f} µs + {:.3f} % of the time ({} kernels, {} pairs)",
                    fitted.constant_us, 100.0 * fitted.relative, fitted.kernels, fitted.pairs));
  }
  if (judged == 0) {
    notes.emplace_back("no kernel has pairs enough for a false-alarm rate");
    return notes;
  }
  notes.push_back(fmt::format("of {} kernels that did not change, the first round called {} and the second again {}",
                              judged, suspected, confirmed));
  notes.push_back(fmt::format("false alarms by all sign patterns: {:.3g} % of kernels a round, {:.2g} % over both",
                              100.0 * once / judged, 100.0 * twice / judged));
  notes.push_back(fmt::format("99 of 100 gates see a shift of {} in every kernel", percent_text(worst)));
  return notes;
}

}  // namespace ktune::verdict
