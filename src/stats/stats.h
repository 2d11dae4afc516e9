#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

// Pure functions on spans of doubles. Spans must not be empty unless said; NaN is never passed in.

namespace ktune::stats {

double mean(std::span<const double> values);
/// Sample standard deviation (n − 1); 0 for one value.
double standard_deviation(std::span<const double> values);
/// Quantile q in [0, 1], linear interpolation between order statistics (type 7 of Hyndman and Fan 1996).
double quantile(std::span<const double> values, double q);
double median(std::span<const double> values);
/// Mean of what is left when each end loses floor(n·fraction) values; fraction in [0, 0.5).
double trimmed_mean(std::span<const double> values, double fraction);
/// Median absolute deviation, unscaled.
double mad(std::span<const double> values);

struct Interval {
  double low = 0.0;
  double high = 0.0;
  double level = 0.0;  ///< coverage reached: at least the one asked for, or less when there are too few values
};
/// Distribution-free interval of the median from order statistics (Conover 1999, 3.2): the shortest symmetric pair
/// whose binomial coverage is at least `level`.
Interval median_interval(std::span<const double> values, double level);

/// Least squares y = a + b·x; returns {a, b}. At least two distinct x.
std::pair<double, double> linear_fit(std::span<const double> x, std::span<const double> y);

/// Hodges-Lehmann estimate: median of the Walsh averages (Hodges and Lehmann 1963). Memory grows with n²/2.
double hodges_lehmann(std::span<const double> values);
/// Exact interval of the shift that goes with it, from ordered Walsh averages: the k-th smallest and the k-th largest
/// cover it with probability 1 − 2·P(W+ ≤ k − 1) (Hollander and Wolfe 1999, 3.3; for values symmetric about the shift).
/// The shortest one that reaches `level`; where too few values cannot (n < 6 for 0.95), the widest.
Interval hodges_lehmann_interval(std::span<const double> values, double level);
/// Exact one-sided p of Wilcoxon's signed-rank test, P(W+ ≥ observed), zeros dropped, ties by mid-ranks (Wilcoxon 1945;
/// Pratt and Gibbons 1981, 3.5 for ties). Exact for n ≤ 30, to rounding beyond; 1 when nothing but zeros is left.
double signed_rank_p(std::span<const double> differences);

/// z with Φ(z) = probability, of the standard normal distribution; probability in (0, 1). Good to 1e-12.
double normal_quantile(double probability);

}  // namespace ktune::stats
