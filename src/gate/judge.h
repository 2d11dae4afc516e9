#pragma once

#include <optional>
#include <span>
#include <vector>

#include "gate/result.h"
#include "model/comparison.h"

// The paired gate's rule: pairs of processes, exact one-sided signed-rank test, a Hodges-Lehmann shift of at least
// delta, one fresh confirmation.

namespace ktune::gate {

struct Rules {
  int pairs = 8;           ///< K, of processes, a round
  double delta_pct = 1.0;  ///< a shift this large matters,
  double delta_us = 0.15;  ///< or this one, whichever is more
  double alpha = 0.02;     ///< of the signed-rank test, one round
  double level = 0.95;     ///< of the shift's interval, two-sided
};

/// What a second round is for.
enum class Need { kNothing, kConfirm, kMore };

/// How noisy pairs of processes are: from the device's stored A/A run, where there is one, and from this run itself
/// (all kernels together; a kernel that is much noisier than the others by its own pairs).
class PairNoise {
 public:
  PairNoise(std::span<const model::Comparison> comparisons, const std::optional<model::ProcessNoise>& stored);
  /// sd of ln(candidate / base) of one pair, for a kernel of the run by its place.
  double sd_of(std::size_t index) const;

 private:
  std::vector<double> sd_;
};

/// After the first round.
Need need_of(const model::Comparison& comparison, double pair_sd, const Rules& rules);
/// After the last.
Row judge(const model::Comparison& comparison, double pair_sd, const Rules& rules);
std::vector<Row> judge_all(std::span<const model::Comparison> comparisons, const Rules& rules,
                           const std::optional<model::ProcessNoise>& stored);

/// `--aa`: what processes of one build differ by. Fits ProcessNoise to comparisons of a build with itself.
model::ProcessNoise fit_noise(std::span<const model::Comparison> comparisons);

/// The smallest shift, %, that K pairs of a pair sd can be expected to call REGRESSED with this probability.
double detectable_pct(double pair_sd, double delta_pct, int pairs, double probability = 0.99);

}  // namespace ktune::gate
