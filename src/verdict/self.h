#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/table.h"
#include "model/comparison.h"
#include "verdict/judge.h"

// `gate --aa`: a build compared with itself shows what this machine's noise does to the gate, before anybody relies on
// it.

namespace ktune::verdict {

/// One kernel of an A/A run. A figure that is NaN is absent: too few pairs gave times.
struct SelfComparison {
  std::string op;
  std::string problem;
  double time_us = kNone;
  int pairs = 0;  ///< first round, used
  /// Of one process' figure, from this kernel's pairs alone.
  double process_sd_us = kNone;
  double process_sd_pct = kNone;
  double pair_sd_pct = kNone;  ///< what the gate takes for a pair: PairNoise
  /// The false-alarm rate of one round: the share of sign patterns of this kernel's shifts that the first round would
  /// suspect to be slower. Nothing changed, so every pattern is as likely as the one that was seen. All 2^K of them up
  /// to K = 12, beyond that 4,096 at random (seeded).
  double false_share = kNone;
  bool suspected = false;         ///< the first round did call it, in either direction,
  bool confirmed = false;         ///< and the second did again
  double delta_pct = kNone;       ///< what is asked of it
  double detectable_pct = kNone;  ///< the smallest shift that is called in 99 of 100 gates: detectable_pct()
};

std::vector<SelfComparison> compare_with_itself(std::span<const model::Comparison> comparisons, const Rules& rules,
                                                const std::optional<model::ProcessNoise>& stored);

Table self_table(std::span<const SelfComparison> kernels);
/// The fitted noise, and the rates over all kernels: one line each.
std::vector<std::string> self_notes(std::span<const SelfComparison> kernels, const model::ProcessNoise& fitted);

}  // namespace ktune::verdict
