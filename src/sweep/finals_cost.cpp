#include "sweep/finals_cost.h"

#include <algorithm>

namespace ktune::sweep {

namespace {

/// A budget that is passed is worse than a few variants less.
constexpr double kMargin = 1.5;

/// Seconds of one call; samples whose cost is not known take what they may.
double call_s(int samples, double cost_us, double budget_us) {
  return 1e-6 * (cost_us > 0.0 ? samples * cost_us : budget_us);
}

}  // namespace

void FinalsCost::add_load(double seconds) {
  load_s_ += seconds;
  ++loads_;
}

void FinalsCost::add_call(double seconds, int samples, double cost_us) {
  over_s_ += std::max(0.0, seconds - 1e-6 * cost_us * samples);
  ++calls_;
  if (calls_ == 1) first_us_ = cost_us;
  if (calls_ == 1 || cost_us < least_us_) least_us_ = cost_us;
}

double FinalsCost::expected_s(std::size_t finalists, const MeasurePolicy& policy) const {
  const double cost_us = std::max(first_us_, least_us_);
  const double over_s = calls_ > 0 ? over_s_ / calls_ : 0.0;
  const double load_s = loads_ > 0 ? load_s_ / loads_ : 0.0;
  const double round_s = over_s + call_s(round_samples(policy, cost_us), cost_us, policy.round_us);
  const double block_s =
      over_s + call_s(last_block_samples(policy, cost_us), cost_us, policy.last_us / policy.last_blocks);
  const auto count = static_cast<double>(finalists);
  return kMargin * (count * (load_s + policy.rounds * round_s) + std::min(count, 2.0) * policy.last_blocks * block_s);
}

}  // namespace ktune::sweep
