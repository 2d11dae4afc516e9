#include "sweep/race.h"

#include <algorithm>

namespace ktune::sweep {
namespace {

/// A first block's interval reaches from its least sample to its greatest, nearly; that and the process' own noise
/// leave room for this share.
constexpr double kFirstMargin = 0.05;
constexpr double kLaterMargin = 0.01;
/// Half the interval over the median: known well enough to be ranked, since the best are timed again.
constexpr double kTight = 0.005;
/// Fewer samples give no interval at 95 %.
constexpr int kFewest = 6;

}  // namespace

Standing judge(const measure::Series& series, double best_high_us, const RacePolicy& policy) {
  const int taken = series.taken();
  const bool used = taken >= policy.max_samples || series.spent_us() >= policy.budget_us;
  if (used && taken >= std::min(policy.min_samples, policy.max_samples)) return Standing::kDone;
  if (!policy.race) return Standing::kGoOn;
  const model::TimingSummary summary = series.summary();
  const double margin = taken <= policy.first_block ? kFirstMargin : kLaterMargin;
  if (summary.n >= kFewest && best_high_us > 0.0 && summary.ci_low_us > best_high_us * (1.0 + margin))
    return Standing::kOut;
  const bool tight = summary.ci_high_us - summary.ci_low_us <= 2.0 * kTight * summary.time_us;
  return tight && summary.n >= policy.min_samples ? Standing::kDone : Standing::kGoOn;
}

int next_block(const measure::Series& series, const RacePolicy& policy) {
  const int taken = series.taken();
  const int left = std::max(1, policy.max_samples - taken);
  if (taken == 0) return std::min(policy.first_block, left);
  const double cost = series.cost_us();
  const int fits = cost > 0.0 ? static_cast<int>(std::min(1e6, policy.block_us / cost)) : policy.block_samples;
  const int affordable =
      cost > 0.0 ? static_cast<int>(std::min(1e6, (policy.budget_us - series.spent_us()) / cost)) : left;
  const int wanted = std::min({std::max(fits, 1), policy.block_samples, std::max(affordable, 1)});
  return std::min(std::max(wanted, std::min(policy.min_samples - taken, 4)), left);
}

}  // namespace ktune::sweep
