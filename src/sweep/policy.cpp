#include "sweep/policy.h"

#include <algorithm>

namespace ktune::sweep {

namespace {

/// A block before its variant's cost is known.
constexpr int kUnknownCost = 8;

int fitting(double budget_us, double cost_us, int least, int most) {
  if (cost_us <= 0.0) return std::min(kUnknownCost, most);
  return std::clamp(static_cast<int>(std::min(1e6, budget_us / cost_us)), least, most);
}

}  // namespace

MeasurePolicy measure_policy(const model::DeviceFacts& facts, const Options& options) {
  MeasurePolicy policy;
  policy.race.race = options.race;
  policy.race.budget_us = 1000.0 * options.trial_ms;
  policy.finalists = options.finalists;
  policy.last_us = 3.0 * policy.race.budget_us;
  if (facts.kind == "cpu") {  // a launch takes milliseconds to seconds here: a few samples tell what there is to tell
    policy.race.first_block = 3;
    policy.race.min_samples = 3;
    policy.race.max_samples = 20;
    policy.finalists = std::min(options.finalists, 3);
    policy.rounds = 3;
    policy.round_least = 1;
    policy.round_samples = 5;
    policy.last_blocks = 3;
    policy.last_samples = 30;
  }
  return policy;
}

int round_samples(const MeasurePolicy& policy, double cost_us) {
  return fitting(policy.round_us, cost_us, policy.round_least, policy.round_samples);
}

int last_block_samples(const MeasurePolicy& policy, double cost_us) {
  return fitting(policy.last_us / policy.last_blocks, cost_us, 2,
                 std::max(2, policy.last_samples / policy.last_blocks));
}

}  // namespace ktune::sweep
