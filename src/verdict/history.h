#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "verdict/baseline.h"

// What a baseline kernel's history says of it: where it usually is, and how far from there a run may be.

namespace ktune::verdict {

/// No interval of 95 % can be had from fewer processes.
inline constexpr int kFewestProcesses = 6;

struct StoredRules {
  double first_pct = 5.0;   ///< the limit until a kernel has `entries` of history
  double least_pct = 1.0;   ///< no limit below this,
  double delta_us = 0.15;   ///< nor below this,
  int entries = 10;         ///< before the history says how much it varies
  std::size_t window = 20;  ///< newest entries that are looked at
  double level = 0.95;      ///< of the shift's interval, two-sided
};

/// Centre of a kernel's history: the median of the newest entries.
struct Level {
  double ratio = 0.0, kernel_us = 0.0, control_us = 0.0;
  double limit_pct = 0.0;  ///< see level_of
  int entries = 0;         ///< of the whole history
};

/// The limit is first_pct until there is enough history, then 3 · 1.4826 · MAD · √(1 + π/2H) of the log ratios around
/// their median, at least least_pct; above first_pct only as far as the entries differ that much from one to the next
/// (1.4826/√2 · median |difference| in the place of 1.4826 · MAD); and in each case at least delta_us.
///
/// Where that comes from: 1.4826 · MAD estimates the standard deviation σ of one normal entry. The median of H entries
/// has the variance π σ²/2H, so a new entry differs from it with the standard deviation σ √(1 + π/2H); the limit is
/// three of those.
Level level_of(const BaselineKernel& kernel, const StoredRules& rules);

/// ktune's own copy, which is what kernels are divided by. Its ratio to itself says nothing, so it is divided by its
/// time of before: its level is of kernel_us, the ratio 1.
bool is_own_control(const BaselineKernel& kernel);

/// A kernel with its level, which is worked out once and passed on.
struct KernelHistory {
  BaselineKernel kernel;
  Level level;
};
std::vector<KernelHistory> histories_of(std::span<const BaselineKernel> kernels, const StoredRules& rules);

}  // namespace ktune::verdict
