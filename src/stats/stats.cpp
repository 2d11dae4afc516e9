#include "stats/stats.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace ktune::stats {
namespace {

/// A caller's broken promise; stats stands below `base` and cannot use its check.
void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "ktune: bug: stats: %s\n", what);
  std::abort();
}

std::vector<double> sorted(std::span<const double> values) {
  require(!values.empty(), "no values");
  std::vector<double> result(values.begin(), values.end());
  std::sort(result.begin(), result.end());
  return result;
}

double sorted_quantile(const std::vector<double>& values, double q) {
  double position = q * static_cast<double>(values.size() - 1);
  auto below = static_cast<std::size_t>(position);
  if (below + 1 >= values.size()) return values.back();
  double fraction = position - static_cast<double>(below);
  return values[below] + fraction * (values[below + 1] - values[below]);
}

}  // namespace

double mean(std::span<const double> values) {
  require(!values.empty(), "no values");
  double sum = 0.0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  double centre = mean(values);
  if (values.size() == 1) return 0.0;
  double squares = 0.0;
  for (double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double quantile(std::span<const double> values, double q) {
  require(q >= 0.0 && q <= 1.0, "a quantile outside [0, 1]");
  return sorted_quantile(sorted(values), q);
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

double trimmed_mean(std::span<const double> values, double fraction) {
  require(fraction >= 0.0 && fraction < 0.5, "a trimmed fraction outside [0, 0.5)");
  std::vector<double> ordered = sorted(values);
  // 0.29 · 100 is 28.999…96: the nudge keeps the integer that was meant.
  auto cut = static_cast<std::size_t>(static_cast<double>(ordered.size()) * fraction + 1e-9);
  return mean(std::span(ordered).subspan(cut, ordered.size() - 2 * cut));
}

double mad(std::span<const double> values) {
  double centre = median(values);
  std::vector<double> distances;
  for (double value : values) distances.push_back(std::abs(value - centre));
  return median(distances);
}

Interval median_interval(std::span<const double> values, double level) {
  const std::vector<double> ordered = sorted(values);
  const std::size_t n = ordered.size();
  // The pair (x_(r), x_(n+1−r)) covers the median with probability 1 − 2·P(B < r), B ~ binomial(n, 1/2). Terms are
  // carried as logarithms, since 2^−n is no double beyond n = 1074.
  std::size_t rank = 1;
  long double log_term = -static_cast<long double>(n) * std::log(2.0L);  // P(B = 0)
  double below = static_cast<double>(std::exp(log_term));                // P(B < rank)
  double coverage = 1.0 - 2.0 * below;
  while (2 * (rank + 1) <= n + 1) {
    log_term += std::log(static_cast<long double>(n - rank + 1) / static_cast<long double>(rank));
    double next_below = below + static_cast<double>(std::exp(log_term));
    if (1.0 - 2.0 * next_below < level) break;
    below = next_below;
    coverage = 1.0 - 2.0 * below;
    ++rank;
  }
  return Interval{ordered[rank - 1], ordered[n - rank], std::max(0.0, coverage)};
}

std::pair<double, double> linear_fit(std::span<const double> x, std::span<const double> y) {
  require(x.size() == y.size() && x.size() >= 2, "a line needs two points");
  double x_mean = mean(x);
  double y_mean = mean(y);
  double xx = 0.0;
  double xy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - x_mean) * (x[i] - x_mean);
    xy += (x[i] - x_mean) * (y[i] - y_mean);
  }
  require(xx > 0.0, "a line needs two distinct x");
  double slope = xy / xx;
  return {y_mean - slope * x_mean, slope};
}

namespace {

std::vector<double> walsh_averages(std::span<const double> values) {
  require(!values.empty(), "no values");
  std::vector<double> averages;
  averages.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) averages.push_back(0.5 * (values[i] + values[j]));
  }
  return averages;
}

/// P(sum of the ranks with a positive sign = s) by s, when every sign pattern is equally likely. The halves are exact
/// in doubles, so for n ≤ 30 the sum over 2^n patterns is too.
std::vector<double> rank_sum_probabilities(const std::vector<std::size_t>& ranks) {
  std::size_t total = 0;
  for (std::size_t rank : ranks) total += rank;
  std::vector<double> probability(total + 1, 0.0);
  probability[0] = 1.0;
  std::size_t reached = 0;
  for (std::size_t rank : ranks) {
    reached += rank;
    for (std::size_t s = reached + 1; s-- > 0;) {
      double with = s >= rank ? probability[s - rank] : 0.0;
      probability[s] = 0.5 * (probability[s] + with);
    }
  }
  return probability;
}

/// Ranks of |d|, doubled so that mid-ranks of ties stay integers; `values` sorted by |d|.
std::vector<std::size_t> doubled_ranks(const std::vector<double>& values) {
  std::vector<std::size_t> ranks(values.size());
  for (std::size_t i = 0; i < values.size();) {
    std::size_t end = i;
    while (end < values.size() && std::abs(values[end]) == std::abs(values[i])) ++end;
    for (std::size_t k = i; k < end; ++k) ranks[k] = i + 1 + end;  // 2 · ((i + 1) + end) / 2
    i = end;
  }
  return ranks;
}

}  // namespace

double hodges_lehmann(std::span<const double> values) {
  // As median() would say, without sorting what is n²/2 long.
  std::vector<double> averages = walsh_averages(values);
  const auto middle = averages.begin() + static_cast<std::ptrdiff_t>(averages.size() / 2);
  std::nth_element(averages.begin(), middle, averages.end());
  if (averages.size() % 2 == 1) return *middle;
  const double below = *std::max_element(averages.begin(), middle);
  return below + 0.5 * (*middle - below);
}

Interval hodges_lehmann_interval(std::span<const double> values, double level) {
  std::vector<double> averages = walsh_averages(values);
  std::vector<std::size_t> ranks(values.size());
  std::iota(ranks.begin(), ranks.end(), std::size_t{1});
  const std::vector<double> probability = rank_sum_probabilities(ranks);
  std::size_t k = 1;
  double outside = probability[0];  // P(W+ ≤ k − 1)
  while (2 * (k + 1) <= averages.size() + 1) {
    const double wider = outside + probability[k];
    if (1.0 - 2.0 * wider < level) break;
    outside = wider;
    ++k;
  }
  auto nth = [&](std::size_t place) {
    const auto at = averages.begin() + static_cast<std::ptrdiff_t>(place);
    std::nth_element(averages.begin(), at, averages.end());
    return *at;
  };
  return Interval{nth(k - 1), nth(averages.size() - k), std::max(0.0, 1.0 - 2.0 * outside)};
}

double signed_rank_p(std::span<const double> differences) {
  std::vector<double> values;
  for (double difference : differences) {
    if (difference != 0.0) values.push_back(difference);
  }
  std::sort(values.begin(), values.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  const std::vector<std::size_t> ranks = doubled_ranks(values);
  std::size_t observed = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] > 0.0) observed += ranks[i];
  }
  const std::vector<double> probability = rank_sum_probabilities(ranks);
  double p = 0.0;
  for (std::size_t s = observed; s < probability.size(); ++s) p += probability[s];
  return p;
}

double normal_quantile(double probability) {
  require(probability > 0.0 && probability < 1.0, "a probability outside (0, 1)");
  double low = -39.0;  // Φ is 0 in doubles below
  double high = 9.0;   // and 1 above
  while (high - low > 1e-13) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < probability ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace ktune::stats
