#include "verdict/signal.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/stats.h"

namespace ktune::verdict {

double delta_of(double base_us, const Rules& rules) {
  return std::log1p(std::max(rules.delta_pct / 100.0, base_us > 0.0 ? rules.delta_us / base_us : 0.0));
}

double visible_of(double delta, double pair_sd, std::size_t pairs) {
  const double errors = kVisibleErrors * pair_sd / std::sqrt(static_cast<double>(pairs));
  return errors > delta ? errors : delta;
}

bool decidable(std::size_t pairs, const Rules& rules) {
  const double smallest_p = std::ldexp(1.0, -static_cast<int>(pairs));
  return smallest_p <= rules.alpha && 1.0 - 2.0 * smallest_p >= rules.level;
}

Signal signal_of(std::span<const double> shifts, double visible, double alpha) {
  if (shifts.empty()) return Signal::kQuiet;
  const double shift = stats::hodges_lehmann(shifts);
  if (std::abs(shift) < visible) return Signal::kQuiet;
  std::vector<double> towards(shifts.begin(), shifts.end());
  if (shift < 0.0) {
    for (double& value : towards) value = -value;
  }
  if (stats::signed_rank_p(towards) > alpha) return Signal::kQuiet;
  return shift > 0.0 ? Signal::kSlower : Signal::kFaster;
}

}  // namespace ktune::verdict
