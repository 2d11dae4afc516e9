#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "model/comparison.h"

namespace ktune::verdict {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Eight deviations, in units of a spread, that no sign pattern repeats.
inline const std::vector<double> kSpread = {-1.3, 0.2, 0.9, -0.4, 1.2, -0.8, 0.6, -0.3};

/// `shift` + `spread`·kSpread, all in percent.
inline std::vector<double> around(double shift_pct, double spread_pct) {
  std::vector<double> shifts;
  for (double deviation : kSpread) shifts.push_back(shift_pct + spread_pct * deviation);
  return shifts;
}

/// Pairs whose candidate is slower by these percents.
inline std::vector<model::FigurePair> pairs_of(double base_us, const std::vector<double>& shifts_pct) {
  std::vector<model::FigurePair> pairs;
  for (double shift : shifts_pct) {
    model::FigurePair& pair = pairs.emplace_back();
    pair.base.time_us = base_us;
    pair.candidate.time_us = base_us * (1.0 + shift / 100.0);
  }
  return pairs;
}

inline model::Comparison comparison_of(double base_us, const std::vector<double>& first_pct,
                                       const std::vector<double>& fresh_pct = {}) {
  model::Comparison comparison;
  comparison.op = "rmsnorm";
  comparison.problem = "M=1024,N=4096";
  comparison.base.label = "main";
  comparison.candidate.label = "HEAD";
  comparison.candidate.source = "kernels/rmsnorm.cu";
  comparison.timer = model::Timer::kEvents;
  comparison.cache_state = "cold";
  comparison.pairs = pairs_of(base_us, first_pct);
  comparison.fresh_pairs = pairs_of(base_us, fresh_pct);
  return comparison;
}

}  // namespace ktune::verdict
