#include "stats/stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <random>

namespace ktune::stats {
namespace {

using Values = std::vector<double>;

Values one_to(int n) {
  Values values;
  for (int i = 1; i <= n; ++i) values.push_back(i);
  return values;
}

Values shuffled(Values values, unsigned seed) {
  std::shuffle(values.begin(), values.end(), std::mt19937(seed));
  return values;
}

TEST(Mean, AndStandardDeviationMatchHandComputedValues) {
  Values values{2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_DOUBLE_EQ(mean(values), 5.0);
  EXPECT_DOUBLE_EQ(standard_deviation(values), std::sqrt(32.0 / 7.0));
  EXPECT_EQ(standard_deviation(Values{3.5}), 0.0);
}

TEST(StandardDeviation, SurvivesALargeCommonOffset) {
  EXPECT_DOUBLE_EQ(standard_deviation(Values{1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}), std::sqrt(30.0));
}

TEST(Quantile, IsTypeSevenOfHyndmanAndFan) {
  Values values{40, 10, 30, 20};
  EXPECT_DOUBLE_EQ(quantile(values, 0.0), 10);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 17.5);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 25);
  EXPECT_DOUBLE_EQ(quantile(values, 0.9), 37);
  EXPECT_DOUBLE_EQ(quantile(values, 1.0), 40);
  EXPECT_DOUBLE_EQ(quantile(Values{7}, 0.3), 7);
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoMiddleOnes) {
  EXPECT_DOUBLE_EQ(median(Values{3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median(Values{4, 1, 3, 2}), 2.5);
}

TEST(TrimmedMean, EachEndLosesItsShare) {
  Values values{100, 1, 2, 3, 4, 5, 6, 7, 8, -50};
  EXPECT_DOUBLE_EQ(trimmed_mean(values, 0.1), 4.5);
  EXPECT_DOUBLE_EQ(trimmed_mean(values, 0.2), 4.5);
  EXPECT_DOUBLE_EQ(trimmed_mean(values, 0.0), 8.6);
  EXPECT_DOUBLE_EQ(trimmed_mean(Values{1, 2, 9}, 0.2), 4.0);  // floor(0.6): nothing is cut
}

TEST(TrimmedMean, TheCountIsTheIntegerThatWasMeant) {
  // 0.29 · 100 is 28.999…96 in doubles; all 29 outliers must go, and 72 to 100 with them.
  Values values = one_to(100);
  std::fill_n(values.begin(), 29, -1e6);
  EXPECT_DOUBLE_EQ(trimmed_mean(values, 0.29), (30.0 + 71.0) / 2);
}

TEST(Mad, IsTheMedianDistanceFromTheMedian) {
  EXPECT_DOUBLE_EQ(mad(Values{1, 1, 2, 2, 4, 6, 9}), 1.0);
  EXPECT_DOUBLE_EQ(mad(Values{5}), 0.0);
}

// The coverage of (x_(r), x_(n+1−r)) by Boost.Math, and that no shorter symmetric pair reaches the level.
TEST(MedianInterval, IsTheShortestSymmetricPairThatReachesItsLevel) {
  for (int n : {6, 7, 8, 9, 10, 20, 51, 100, 999, 1000, 2500}) {
    for (double level : {0.90, 0.95, 0.99}) {
      boost::math::binomial_distribution<double> binomial(n, 0.5);
      auto coverage = [&](int rank) { return 1.0 - 2.0 * boost::math::cdf(binomial, rank - 1); };
      if (coverage(1) < level) continue;
      Interval interval = median_interval(shuffled(one_to(n), 7), level);
      int rank = static_cast<int>(interval.low);
      EXPECT_EQ(interval.high, n + 1 - rank);
      EXPECT_NEAR(interval.level, coverage(rank), 1e-12) << "n = " << n;
      EXPECT_GE(interval.level, level);
      EXPECT_LT(coverage(rank + 1), level) << "n = " << n;
    }
  }
}

TEST(MedianInterval, MatchesTheRanksOfThePublishedTables) {
  // Conover 1999, table A3 (binomial, p = 0.5): n = 10 → ranks 2 and 9 (97.85 %), n = 20 → ranks 6 and 15 (95.86 %).
  Interval ten = median_interval(one_to(10), 0.95);
  EXPECT_EQ(ten.low, 2);
  EXPECT_EQ(ten.high, 9);
  EXPECT_NEAR(ten.level, 0.978515625, 1e-12);
  Interval twenty = median_interval(one_to(20), 0.95);
  EXPECT_EQ(twenty.low, 6);
  EXPECT_EQ(twenty.high, 15);
  EXPECT_NEAR(twenty.level, 0.958610534667969, 1e-12);
}

TEST(MedianInterval, TooFewValuesGiveTheWholeRangeAndTheLevelItReaches) {
  Interval interval = median_interval(Values{3, 1, 2}, 0.95);
  EXPECT_EQ(interval.low, 1);
  EXPECT_EQ(interval.high, 3);
  EXPECT_DOUBLE_EQ(interval.level, 0.75);
  Interval one = median_interval(Values{5}, 0.95);
  EXPECT_EQ(one.low, 5);
  EXPECT_EQ(one.high, 5);
  EXPECT_EQ(one.level, 0.0);
}

TEST(MedianInterval, ALowLevelShrinksItToTheMiddle) {
  Interval four = median_interval(one_to(4), 0.3);
  EXPECT_EQ(four.low, 2);
  EXPECT_EQ(four.high, 3);
  EXPECT_DOUBLE_EQ(four.level, 0.375);
  Interval five = median_interval(one_to(5), 0.0);
  EXPECT_EQ(five.low, 3);
  EXPECT_EQ(five.high, 3);
  EXPECT_NEAR(five.level, 0.0, 1e-12);
}

TEST(MedianInterval, ManyValuesDoNotUnderflow) {
  Interval interval = median_interval(one_to(100'000), 0.95);
  boost::math::binomial_distribution<double> binomial(100'000, 0.5);
  EXPECT_NEAR(interval.level, 1.0 - 2.0 * boost::math::cdf(binomial, interval.low - 1), 1e-9);
  EXPECT_EQ(interval.low, 49'690);
}

TEST(MedianInterval, CoversTheMedianAsOftenAsItSays) {
  std::mt19937 random(11);
  std::exponential_distribution<double> exponential(1.0);
  const double true_median = std::log(2.0);
  int covered = 0;
  constexpr int kRuns = 4000;
  double level = 0;
  for (int run = 0; run < kRuns; ++run) {
    Values values(20);
    for (double& value : values) value = exponential(random);
    Interval interval = median_interval(values, 0.95);
    level = interval.level;
    covered += interval.low <= true_median && true_median <= interval.high ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(covered) / kRuns, level, 0.012);  // four standard errors
}

TEST(LinearFit, RecoversALineAndMatchesATextbookExample) {
  auto [a, b] = linear_fit(Values{1, 2, 3, 10}, Values{5, 8, 11, 32});
  EXPECT_NEAR(a, 2.0, 1e-12);
  EXPECT_NEAR(b, 3.0, 1e-12);
  // Anscombe 1973, first set: y = 3.0001 + 0.50009 x.
  auto [c, d] = linear_fit(Values{10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5},
                           Values{8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68});
  EXPECT_NEAR(c, 3.0000909, 1e-6);
  EXPECT_NEAR(d, 0.5000909, 1e-6);
}

TEST(LinearFit, SurvivesXFarFromZero) {
  auto [a, b] = linear_fit(Values{1e9, 1e9 + 1, 1e9 + 2}, Values{1, 2, 3});
  EXPECT_NEAR(b, 1.0, 1e-12);
  EXPECT_NEAR(a + b * 1e9, 1.0, 1e-6);
}

TEST(HodgesLehmann, IsTheMedianOfTheWalshAverages) {
  // Walsh averages of 1, 2, 9: 1, 1.5, 5, 2, 5.5, 9 → median (2 + 5) / 2.
  EXPECT_DOUBLE_EQ(hodges_lehmann(Values{9, 1, 2}), 3.5);
  EXPECT_DOUBLE_EQ(hodges_lehmann(Values{4}), 4.0);
}

TEST(HodgesLehmann, MatchesHollanderAndWolfesDepressionExample) {
  // Hollander and Wolfe 1999, example 3.1 (Hamilton depression scale): estimate −0.46 for after − before.
  Values differences{0.878 - 1.83, 0.647 - 0.50, 0.598 - 1.62, 2.05 - 2.48, 1.06 - 1.68,
                     1.29 - 1.88,  1.06 - 1.55,  3.14 - 3.06,  1.29 - 1.30};
  EXPECT_NEAR(hodges_lehmann(differences), -0.46, 1e-9);
}

TEST(SignedRank, AllPositiveGivesTheSmallestPossibleP) {
  EXPECT_EQ(signed_rank_p(one_to(8)), 1.0 / 256);
  EXPECT_EQ(signed_rank_p(one_to(10)), 1.0 / 1024);
  EXPECT_EQ(signed_rank_p(one_to(30)), 1.0 / (1 << 30));
}

TEST(SignedRank, AllNegativeAndNothingAtAllGiveOne) {
  EXPECT_EQ(signed_rank_p(Values{-1, -2, -3}), 1.0);
  EXPECT_EQ(signed_rank_p(Values{0, 0}), 1.0);
  EXPECT_EQ(signed_rank_p(Values{}), 1.0);
}

TEST(SignedRank, MatchesHollanderAndWolfesDepressionExample) {
  // The same data as before − after: T+ = 40 of 45, P(T+ ≥ 40) = 10/512 = 0.0195 (their table A.4: .020).
  Values differences{1.83 - 0.878, 0.50 - 0.647, 1.62 - 0.598, 2.48 - 2.05, 1.68 - 1.06,
                     1.88 - 1.29,  1.55 - 1.06,  3.06 - 3.14,  1.30 - 1.29};
  EXPECT_DOUBLE_EQ(signed_rank_p(differences), 10.0 / 512);
}

TEST(SignedRank, MatchesTheCriticalValuesOfTheTables) {
  // Upper tails P(T+ ≥ t): n = 5, t = 15: 1/32; n = 6, t = 19: 3/64 → .047; n = 8, t = 31: 10/256 → .039.
  EXPECT_EQ(signed_rank_p(one_to(5)), 1.0 / 32);
  EXPECT_EQ(signed_rank_p(Values{1, -2, 3, 4, 5, 6}), 3.0 / 64);
  EXPECT_EQ(signed_rank_p(Values{1, 2, 3, 4, -5, 6, 7, 8}), 10.0 / 256);
}

TEST(SignedRank, ZerosAreDropped) {
  EXPECT_EQ(signed_rank_p(Values{0, 1, 0, -2, 3, 4, 5, 6, 0}), signed_rank_p(Values{1, -2, 3, 4, 5, 6}));
}

TEST(SignedRank, DependsOnRanksOnlyNotOnSizesOrOrder) {
  EXPECT_EQ(signed_rank_p(Values{3e8, 1e-9, -2e5, 1.0}), signed_rank_p(Values{1, 2, -3, 4}));
}

/// P(W+ ≥ observed) by trying every sign pattern on the same mid-ranks.
double by_enumeration(const Values& differences) {
  Values values;
  for (double difference : differences) {
    if (difference != 0) values.push_back(difference);
  }
  Values ranks;
  for (double value : values) {
    int smaller = 0, equal = 0;
    for (double other : values) {
      smaller += std::abs(other) < std::abs(value) ? 1 : 0;
      equal += std::abs(other) == std::abs(value) ? 1 : 0;
    }
    ranks.push_back(smaller + (equal + 1) / 2.0);
  }
  double observed = 0;
  for (std::size_t i = 0; i < values.size(); ++i) observed += values[i] > 0 ? ranks[i] : 0;
  int reached = 0;
  const unsigned patterns = 1u << values.size();
  for (unsigned pattern = 0; pattern < patterns; ++pattern) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += (pattern >> i) & 1u ? ranks[i] : 0;
    reached += sum >= observed ? 1 : 0;
  }
  return reached / static_cast<double>(patterns);
}

TEST(SignedRank, WithTiesEqualsTheEnumerationOfEverySignPattern) {
  EXPECT_EQ(signed_rank_p(Values{1, 1, -1, 2}), by_enumeration(Values{1, 1, -1, 2}));
  std::mt19937 random(3);
  std::uniform_int_distribution<int> small(-4, 5);
  for (int run = 0; run < 200; ++run) {
    Values values(static_cast<std::size_t>(1 + run % 12));
    for (double& value : values) value = small(random);
    EXPECT_EQ(signed_rank_p(values), by_enumeration(values)) << "run " << run;
  }
}

TEST(HodgesLehmannInterval, OfEightPairsIsTheFourthWalshAverageFromEitherEnd) {
  Values values{0.9, -0.4, 1.7, 0.2, 2.6, -1.1, 0.5, 3.8};
  Values averages;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) averages.push_back((values[i] + values[j]) / 2);
  }
  std::sort(averages.begin(), averages.end());
  Interval interval = hodges_lehmann_interval(values, 0.95);
  EXPECT_DOUBLE_EQ(interval.low, averages[3]);
  EXPECT_DOUBLE_EQ(interval.high, averages[32]);
  EXPECT_DOUBLE_EQ(interval.level, 1.0 - 2.0 * 5 / 256);  // W+ ≤ 3 in 5 of 256 sign patterns: 0.9609
}

TEST(HodgesLehmannInterval, MatchesHollanderAndWolfesDepressionExample) {
  // Hollander and Wolfe 1999, example 3.3: (−0.786, −0.010) at 96.1 %.
  Values differences{0.878 - 1.83, 0.647 - 0.50, 0.598 - 1.62, 2.05 - 2.48, 1.06 - 1.68,
                     1.29 - 1.88,  1.06 - 1.55,  3.14 - 3.06,  1.29 - 1.30};
  Interval interval = hodges_lehmann_interval(differences, 0.95);
  EXPECT_NEAR(interval.low, -0.786, 1e-9);
  EXPECT_NEAR(interval.high, -0.010, 1e-9);
  EXPECT_DOUBLE_EQ(interval.level, 1.0 - 2.0 * 10 / 512);
}

// The interval is the shifts that the exact two-sided test does not reject: it ends where P(W+ ≥ …) crosses.
TEST(HodgesLehmannInterval, EndsWhereTheSignedRankTestTurns) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal(0.3, 1.0);
  for (int n : {6, 7, 8, 10, 13, 16}) {
    Values values(static_cast<std::size_t>(n));
    for (double& value : values) value = normal(random);
    Interval interval = hodges_lehmann_interval(values, 0.95);
    ASSERT_GE(interval.level, 0.95);
    auto p_of = [&](double shift, double sign) {
      Values moved = values;
      for (double& value : moved) value = sign * (value - shift);
      return by_enumeration(moved);
    };
    const double tail = (1.0 - interval.level) / 2;
    EXPECT_EQ(p_of(interval.low - 1e-9, 1.0), tail) << n;
    EXPECT_GT(p_of(interval.low + 1e-9, 1.0), 0.025) << n;
    EXPECT_EQ(p_of(interval.high + 1e-9, -1.0), tail) << n;
    EXPECT_GT(p_of(interval.high - 1e-9, -1.0), 0.025) << n;
  }
}

TEST(HodgesLehmannInterval, TooFewValuesGiveTheWidestAndTheLevelItReaches) {
  Interval five = hodges_lehmann_interval(Values{3, 1, 4, 2, 9}, 0.95);
  EXPECT_EQ(five.low, 1);
  EXPECT_EQ(five.high, 9);
  EXPECT_DOUBLE_EQ(five.level, 1.0 - 2.0 / 32);
  Interval one = hodges_lehmann_interval(Values{7}, 0.95);
  EXPECT_EQ(one.low, 7);
  EXPECT_EQ(one.high, 7);
  EXPECT_EQ(one.level, 0.0);
}

TEST(NormalQuantile, MatchesTheTables) {
  EXPECT_NEAR(normal_quantile(0.5), 0.0, 1e-12);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-11);
  EXPECT_NEAR(normal_quantile(0.99), 2.326347874040841, 1e-11);
  EXPECT_NEAR(normal_quantile(1e-10), -6.361340902404056, 1e-9);
}

TEST(StatsDeathTest, BrokenPromisesAbort) {
  EXPECT_DEATH(mean(Values{}), "stats: no values");
  EXPECT_DEATH(quantile(Values{1}, 1.5), "quantile outside");
  EXPECT_DEATH(trimmed_mean(Values{1, 2}, 0.5), "trimmed fraction");
  EXPECT_DEATH(linear_fit(Values{2, 2}, Values{1, 3}), "two distinct x");
}

}  // namespace
}  // namespace ktune::stats
