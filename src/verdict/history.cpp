// The MAD of a history that holds two levels is their distance, not the noise: six sessions of 5 µs and six of 4 µs
// would give a limit of 70 %. So what moved and was confirmed starts a new history, and beyond the first limit the
// noise has to show from one session to the next as well, where a step counts once. On steady noise that costs little:
// simulated with 3 % from session to session, 1.2 % false alarms of single kernels after 20 sessions instead of 0.9 %.

#include "verdict/history.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stats/stats.h"
#include "verdict/pairs.h"

namespace ktune::verdict {

namespace {

/// How far one entry is from the one before it, usually.
double median_step(std::span<const double> entries) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < entries.size(); ++i) steps.push_back(std::abs(entries[i] - entries[i - 1]));
  return stats::median(steps);
}

}  // namespace

Level level_of(const BaselineKernel& kernel, const StoredRules& rules) {
  Level level;
  level.entries = static_cast<int>(kernel.history.size());
  const std::size_t used = std::min(rules.window, kernel.history.size());
  std::vector<double> ratios, kernels, controls;
  for (std::size_t i = kernel.history.size() - used; i < kernel.history.size(); ++i) {
    ratios.push_back(std::log(is_own_control(kernel) ? kernel.history[i].kernel_us : kernel.history[i].ratio));
    kernels.push_back(kernel.history[i].kernel_us);
    controls.push_back(kernel.history[i].control_us);
  }
  level.ratio = is_own_control(kernel) ? 1.0 : std::exp(stats::median(ratios));
  level.kernel_us = stats::median(kernels);
  level.control_us = stats::median(controls);
  level.limit_pct = rules.first_pct;
  if (level.entries >= rules.entries) {
    const double of_history = std::sqrt(1.0 + std::numbers::pi / (2.0 * static_cast<double>(used)));
    const double around_pct = percent_of(3.0 * 1.4826 * stats::mad(ratios) * of_history);
    const double steady_pct = percent_of(3.0 * 1.4826 * median_step(ratios) / std::numbers::sqrt2 * of_history);
    level.limit_pct = std::max(rules.least_pct, std::min(around_pct, std::max(rules.first_pct, steady_pct)));
  }
  level.limit_pct = std::max(level.limit_pct, 100.0 * rules.delta_us / level.kernel_us);
  return level;
}

bool is_own_control(const BaselineKernel& kernel) {
  return kernel.root == SpecRoot::kKtune && kernel.op == kernel.control.problem.op;
}

std::vector<KernelHistory> histories_of(std::span<const BaselineKernel> kernels, const StoredRules& rules) {
  std::vector<KernelHistory> histories;
  for (const BaselineKernel& kernel : kernels) histories.push_back({kernel, level_of(kernel, rules)});
  return histories;
}

}  // namespace ktune::verdict
