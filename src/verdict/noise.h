#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/comparison.h"

namespace ktune::verdict {

/// How noisy pairs of processes are: from the device's stored A/A run, where there is one, and from this run itself
/// (all kernels together; a kernel that is much noisier than the others by its own pairs). First rounds only, so that
/// what counts as a suspect does not move when the second round comes in.
class PairNoise {
 public:
  PairNoise(std::span<const model::Comparison> comparisons, const std::optional<model::ProcessNoise>& stored);
  /// sd of ln(candidate / base) of one pair, for a kernel of the run by its place. NaN: no figures.
  double sd_of(std::size_t index) const;

 private:
  std::vector<double> sd_;
};

/// `--aa`: what processes of one build differ by. Fits ProcessNoise to comparisons of a build with itself (their first
/// rounds); fewer than five kernels only scale the curve measured on an H200. Only constant_us, relative, kernels and
/// pairs are set. No figures: kernels is 0.
model::ProcessNoise fit_noise(std::span<const model::Comparison> comparisons);

}  // namespace ktune::verdict
