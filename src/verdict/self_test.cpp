#include "verdict/self.h"

#include <gtest/gtest.h>

#include "stats/stats.h"
#include "verdict/comparisons_for_test.h"

namespace ktune::verdict {
namespace {

/// Six kernels of 100 µs; the last one is called in both rounds.
std::vector<model::Comparison> run() {
  std::vector<model::Comparison> comparisons(5, comparison_of(100.0, around(0.0, 0.3)));
  comparisons.push_back(comparison_of(100.0, around(1.3, 0.3), around(1.3, 0.3)));
  return comparisons;
}

TEST(SelfComparison, SaysWhatOneProcessVariesBy) {
  std::vector<SelfComparison> kernels = compare_with_itself(run(), {}, std::nullopt);
  ASSERT_EQ(kernels.size(), 6U);
  EXPECT_EQ(kernels[0].op, "rmsnorm");
  EXPECT_EQ(kernels[0].problem, "M=1024,N=4096");
  EXPECT_EQ(kernels[0].pairs, 8);
  EXPECT_DOUBLE_EQ(kernels[0].time_us, 100.0);
  const double sd_pct = 0.3 * stats::standard_deviation(kSpread) / std::sqrt(2.0);
  EXPECT_NEAR(kernels[0].process_sd_pct, sd_pct, 1e-3);
  EXPECT_NEAR(kernels[0].process_sd_us, sd_pct, 1e-3);  // of 100 µs
  EXPECT_NEAR(kernels[5].process_sd_pct, sd_pct, 5e-3);
  EXPECT_NEAR(kernels[0].delta_pct, 1.0, 1e-9);
  EXPECT_NEAR(kernels[0].detectable_pct, detectable_pct(kernels[0].pair_sd_pct / 100.0, 1.0, 8), 1e-9);
}

TEST(SelfComparison, CountsTheSignPatternsThatWouldBeCalled) {
  std::vector<SelfComparison> kernels = compare_with_itself(run(), {}, std::nullopt);
  EXPECT_EQ(kernels[0].false_share, 0.0);  // 0.3 % of spread cannot look like 1 %
  // 1.3 ± 0.3 % with signs given at random: all of them positive, or all but the one, or the two, with the least ranks.
  // p <= 0.02 takes a rank sum of 33 of 36: the patterns {}, {1}, {2}, {3} and {1, 2} of ranks turned round.
  EXPECT_EQ(kernels[5].false_share, 5.0 / 256);
  EXPECT_FALSE(kernels[0].suspected);
  EXPECT_TRUE(kernels[5].suspected);
  EXPECT_TRUE(kernels[5].confirmed);
  Rules strict;
  strict.alpha = 0.004;
  EXPECT_EQ(compare_with_itself(run(), strict, std::nullopt)[5].false_share, 1.0 / 256);
}

TEST(SelfComparison, DrawsSignPatternsWhereThereAreTooManyToTry) {
  std::vector<double> shifts = around(1.3, 0.3);
  const std::vector<double> more = around(1.35, 0.31);
  shifts.insert(shifts.end(), more.begin(), more.end());
  std::vector<model::Comparison> comparisons(1, comparison_of(100.0, shifts));
  Rules rules;
  rules.pairs = 16;
  const double share = compare_with_itself(comparisons, rules, std::nullopt)[0].false_share;
  EXPECT_EQ(share, compare_with_itself(comparisons, rules, std::nullopt)[0].false_share);
  EXPECT_NEAR(share, 0.01, 0.01);
  EXPECT_LT(share, 0.02 + 0.009);  // alpha, and four errors of 4,096 draws
}

TEST(SelfComparison, OfTooFewPairsHasNoRates) {
  std::vector<model::Comparison> comparisons(1, comparison_of(100.0, {0.1, -0.2, 0.3}));
  comparisons.push_back(comparison_of(100.0, {}));
  std::vector<SelfComparison> kernels = compare_with_itself(comparisons, {}, std::nullopt);
  EXPECT_NEAR(kernels[0].process_sd_pct, stats::standard_deviation(std::vector{0.1, -0.2, 0.3}) / std::sqrt(2.0), 1e-3);
  EXPECT_TRUE(std::isnan(kernels[0].false_share));
  EXPECT_TRUE(std::isnan(kernels[0].detectable_pct));
  EXPECT_TRUE(std::isnan(kernels[1].time_us));
  EXPECT_EQ(self_table(kernels).csv(),
            "op,problem,time µs,pairs,process sd µs,process sd %,false alarms % a round,called,delta %,detects %\n"
            "rmsnorm,\"M=1024,N=4096\",100.00,3,0.178,0.18,–,–,1.00,–\n"
            "rmsnorm,\"M=1024,N=4096\",–,0,–,–,–,–,–,–\n");
  EXPECT_EQ(self_notes(kernels, {}), std::vector<std::string>{"no kernel has pairs enough for a false-alarm rate"});
}

TEST(SelfTable, HasALineAKernelAndNotesOverAll) {
  std::vector<model::Comparison> comparisons = run();
  std::vector<SelfComparison> kernels = compare_with_itself(comparisons, {}, std::nullopt);
  Table table = self_table(kernels);
  ASSERT_EQ(table.rows.size(), 6U);
  EXPECT_EQ(table.rows[5], (std::vector<Cell>{"rmsnorm", "M=1024,N=4096", "100.00", "8", "0.181", "0.18", "1.95",
                                              "twice", "1.00", "1.3"}));
  EXPECT_EQ(table.rows[0][7], "no");
  EXPECT_EQ(
      self_notes(kernels, fit_noise(comparisons)),
      (std::vector<std::string>{"one process' figure has a sd of 0.128 µs + 0.064 % of the time (6 kernels, 8 pairs)",
                                "of 6 kernels that did not change, the first round called 1 and the second again 1",
                                "false alarms by all sign patterns: 0.326 % of kernels a round, 0.0064 % over both",
                                "99 of 100 gates see a shift of 1.3 % in every kernel"}));
}

}  // namespace
}  // namespace ktune::verdict
