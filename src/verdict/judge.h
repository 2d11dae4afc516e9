#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/comparison.h"
#include "verdict/noise.h"
#include "verdict/result.h"

// The paired gate's rule: pairs of processes, exact one-sided signed-rank test, a Hodges-Lehmann shift of at least
// delta, one fresh confirmation.
//
//   first round   suspect (slower or faster)      → kConfirm: K fresh pairs
//                 the interval ends below delta   → kNothing: PASS
//                 neither                         → kMore: K fresh pairs, to narrow the interval
//   at the end    a suspect, and again by the fresh pairs alone → REGRESSED or IMPROVED
//                 the interval of all pairs ends below delta    → PASS
//                 else                                          → INCONCLUSIVE, and why
//
// What was no suspect at first is never REGRESSED: its fresh pairs are its first look, and nothing confirmed them.

namespace ktune::verdict {

struct Rules {
  int pairs = 8;           ///< K, of processes, a round
  double delta_pct = 1.0;  ///< a shift this large matters,
  double delta_us = 0.15;  ///< or this one, whichever is more
  double alpha = 0.02;     ///< of the signed-rank test, one round
  double level = 0.95;     ///< of the shift's interval, two-sided
};

/// What a second round is for.
enum class Need { kNothing, kConfirm, kMore };

/// Throws Error(kUsage) for rules that no measurement can follow: δ of nothing, K of 0, alpha or level outside (0, 1).
void check(const Rules& rules);

/// A shift is called only from this many standard errors (pair sd / √K) on, however small δ is. Tried in
/// scripts/gate-simulation, 2,000 A/A gates of 40 kernels on its bad machine: at 2 there are 8 false alarms, at 3 the
/// first round suspects 197 kernels, at 4 it suspects 11 of the 80,000, so that two rounds agree once in 10⁸.
inline constexpr double kVisibleErrors = 4.0;

/// After the first round. `pair_sd` is PairNoise::sd_of.
Need need_of(const model::Comparison& comparison, double pair_sd, const Rules& rules);
/// After the last.
Row judge(const model::Comparison& comparison, double pair_sd, const Rules& rules);
std::vector<Row> judge_all(std::span<const model::Comparison> comparisons, const Rules& rules,
                           const std::optional<model::ProcessNoise>& stored);

/// The smallest shift, %, that K pairs of a pair sd call REGRESSED with this probability, over both rounds, at the
/// default alpha and level. NaN: K is too few for those.
double detectable_pct(double pair_sd, double delta_pct, int pairs, double probability = 0.99);

}  // namespace ktune::verdict
