#include "verdict/judge.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "verdict/comparisons_for_test.h"

namespace ktune::verdict {
namespace {

using Shifts = std::vector<double>;
constexpr double kSd = 0.003;  // of a pair: 0.3 %, so that 0.42 % is visible and delta rules

TEST(Pass, IsAnIntervalThatEndsBelowDelta) {
  model::Comparison comparison = comparison_of(100.0, {-0.4, -0.2, -0.1, 0.0, 0.1, 0.3, 0.5, 0.7});
  EXPECT_EQ(need_of(comparison, kSd, {}), Need::kNothing);
  Row row = judge(comparison, kSd, {});
  EXPECT_EQ(row.verdict, Verdict::kPass);
  EXPECT_EQ(row.reason, "");
  EXPECT_EQ(row.op, "rmsnorm");
  EXPECT_EQ(row.problem, "M=1024,N=4096");
  EXPECT_EQ(row.source, "kernels/rmsnorm.cu");
  EXPECT_EQ(row.timer, "events");
  EXPECT_EQ(row.cache_state, "cold");
  EXPECT_EQ(row.pairs, 8);
  EXPECT_TRUE(row.blocks);
  EXPECT_DOUBLE_EQ(row.base_us, 100.0);
  EXPECT_NEAR(row.candidate_us, row.base_us * (1.0 + row.shift_pct / 100.0), 1e-9);
  // Walsh averages: the fourth from below is (−0.4 + 0.0) / 2, the fourth from above (0.3 + 0.7) / 2.
  EXPECT_NEAR(row.low_pct, -0.2, 1e-3);
  EXPECT_NEAR(row.high_pct, 0.5, 1e-3);
  EXPECT_NEAR(row.shift_pct, 0.1, 1e-3);
  EXPECT_NEAR(row.delta_pct, 1.0, 1e-12);
  EXPECT_NEAR(row.visible_pct, 1.0, 1e-12);
  EXPECT_FALSE(row.confirmed);
  ASSERT_EQ(row.candidate_figures_us.size(), 8U);
  EXPECT_NEAR(row.candidate_figures_us[7], 100.7, 1e-9);
}

TEST(Figures, OfBothSidesAgreeWithTheShift) {
  // The machine sped up, two candidates more than their bases: most pairs are slower, the candidates' median is not.
  model::Comparison comparison = comparison_of(100.0, around(0.7, 0.1));
  for (std::size_t i = 0; i < 8; ++i) {
    const double speed = i < 5 ? 1.0 : 0.5;
    comparison.pairs[i].base.time_us *= speed;
    comparison.pairs[i].candidate.time_us *= speed;
  }
  comparison.pairs[3].candidate.time_us = comparison.pairs[4].candidate.time_us = 50.0;
  Row row = judge(comparison, kSd, {});
  EXPECT_EQ(row.base_us, 100.0);
  EXPECT_GT(row.shift_pct, 0.0);
  EXPECT_GT(row.candidate_us, row.base_us);
  EXPECT_NEAR(row.candidate_us, 100.0 + row.shift_pct, 1e-9);
  EXPECT_EQ(row.candidate_figures_us[3], 50.0);
}

TEST(Figures, ThatAreExactGiveAnExactShift) {
  Row row = judge(comparison_of(5.0, Shifts(8, 100.0), Shifts(8, 100.0)), kSd, {});
  EXPECT_NEAR(row.shift_pct, 100.0, 1e-12);
  EXPECT_NEAR(row.candidate_us, 10.0, 1e-12);
}

TEST(Pass, IsNotTheMereLackOfEvidence) {
  model::Comparison comparison = comparison_of(100.0, around(0.4, 1.0));
  EXPECT_EQ(need_of(comparison, kSd, {}), Need::kMore);
  Row row = judge(comparison, kSd, {});
  EXPECT_EQ(row.verdict, Verdict::kInconclusive);
  EXPECT_EQ(row.reason, "the shift may be as large as 1.3 %, and 1 % matters");
  EXPECT_GT(row.p_slower, 0.02);
}

TEST(Pass, MayTakeTheSecondRoundsPairs) {
  Row row = judge(comparison_of(100.0, around(0.6, 0.6), around(0.2, 0.6)), kSd, {});
  EXPECT_EQ(row.verdict, Verdict::kPass);
  EXPECT_EQ(row.pairs, 16);
  EXPECT_NEAR(row.shift_pct, 0.4, 0.02);
}

// Noise raises what may be called REGRESSED, never what may be passed.
TEST(Pass, IsHeldAgainstTheDeltaThatWasAskedHoweverNoisyTheMachine) {
  Row row = judge(comparison_of(100.0, around(0.0, 2.5), around(0.0, 2.5)), 0.03, {});
  EXPECT_NEAR(row.visible_pct, 4.334, 1e-3);  // exp(4 · 3 % / √8)
  EXPECT_GT(row.high_pct, 1.0);
  EXPECT_LT(row.high_pct, row.visible_pct);
  EXPECT_EQ(row.verdict, Verdict::kInconclusive);
}

TEST(Regressed, NeedsBothRounds) {
  model::Comparison comparison = comparison_of(100.0, around(2.0, 0.3));
  EXPECT_EQ(need_of(comparison, kSd, {}), Need::kConfirm);
  Row alone = judge(comparison, kSd, {});
  EXPECT_EQ(alone.verdict, Verdict::kInconclusive);
  EXPECT_EQ(alone.reason,
            "+2 %, no second round has confirmed it; the shift may be as large as 2.3 %, and 1 % matters");

  Row both = judge(comparison_of(100.0, around(2.0, 0.3), around(1.8, 0.3)), kSd, {});
  EXPECT_EQ(both.verdict, Verdict::kRegressed);
  EXPECT_EQ(both.reason, "");
  EXPECT_TRUE(both.confirmed);
  EXPECT_EQ(both.p_slower, 1.0 / 256);
  EXPECT_NEAR(both.shift_pct, 1.9, 0.03);

  Row first_only = judge(comparison_of(100.0, around(2.0, 0.3), around(0.4, 0.3)), kSd, {});
  EXPECT_EQ(first_only.verdict, Verdict::kInconclusive);
  EXPECT_FALSE(first_only.confirmed);
  EXPECT_EQ(first_only.reason.substr(0, 62), "+2 % in the first round, +0.4 % in the second: not confirmed; ");
}

TEST(Regressed, IsNeverWhatWasNoSuspectAtFirst) {
  Row row = judge(comparison_of(100.0, around(0.9, 0.1), around(5.0, 0.1)), kSd, {});
  EXPECT_EQ(row.verdict, Verdict::kInconclusive);
  EXPECT_EQ(row.reason.substr(0, 60), "+0.9 % in the first round, +5 % in the second: not confirmed");
}

TEST(Regressed, TakesAShiftOfDelta) {
  EXPECT_EQ(need_of(comparison_of(100.0, around(0.9, 0.05)), kSd, {}), Need::kNothing);
  EXPECT_EQ(need_of(comparison_of(100.0, around(1.1, 0.05)), kSd, {}), Need::kConfirm);
}

TEST(Regressed, TakesTheSignedRankTest) {
  // Nine of ten pairs are slower: p = 2/1024, and the Hodges-Lehmann shift is well beyond delta.
  model::Comparison comparison = comparison_of(100.0, {2.0, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7, 2.8, -0.1});
  Rules rules;
  rules.pairs = 10;
  EXPECT_EQ(need_of(comparison, kSd, rules), Need::kConfirm);
  rules.alpha = 0.0019;
  EXPECT_EQ(need_of(comparison, kSd, rules), Need::kMore);
}

TEST(Regressed, TakesAShiftThatThisMachinesNoiseLetsOneSee) {
  Row row = judge(comparison_of(100.0, around(3.0, 0.5), around(3.0, 0.5)), 0.03, {});
  EXPECT_EQ(row.verdict, Verdict::kInconclusive);
  EXPECT_NEAR(row.visible_pct, 4.334, 1e-3);  // exp(4 · 3 % / √8)
  EXPECT_EQ(row.reason,
            "shifts below 4.3 % cannot be seen here: a pair of processes varies by 3 %; --pairs 64 would show 1.5 %");
}

TEST(Regressed, AsksNoMorePairsThanWouldShowDelta) {
  Row row = judge(comparison_of(100.0, around(0.8, 1.0)), 0.01, {});
  EXPECT_EQ(row.reason,
            "shifts below 1.4 % cannot be seen here: a pair of processes varies by 1 %; --pairs 17 would show 1 %");
}

TEST(Improved, IsTheMirrorAndConfirmedToo) {
  model::Comparison comparison = comparison_of(100.0, around(-2.0, 0.3));
  EXPECT_EQ(need_of(comparison, kSd, {}), Need::kConfirm);
  Row row = judge(comparison_of(100.0, around(-2.0, 0.3), around(-2.2, 0.3)), kSd, {});
  EXPECT_EQ(row.verdict, Verdict::kImproved);
  EXPECT_TRUE(row.confirmed);
  EXPECT_EQ(row.p_slower, 1.0);
  EXPECT_NEAR(row.shift_pct, -2.1, 0.03);
  // Faster in one round is not slower in any.
  EXPECT_EQ(judge(comparison, kSd, {}).verdict, Verdict::kPass);
  EXPECT_EQ(judge(comparison_of(100.0, around(-2.0, 0.3), around(0.0, 0.3)), kSd, {}).verdict, Verdict::kPass);
}

TEST(Suspects, WhoseSecondRoundsDisagreeAreJudgedOnAllPairs) {
  const Shifts first = {0.3, 0.5, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8};
  EXPECT_EQ(need_of(comparison_of(100.0, first), kSd, {}), Need::kConfirm);
  Row row = judge(comparison_of(100.0, first, around(-0.3, 0.1)), kSd, {});
  EXPECT_EQ(row.verdict, Verdict::kPass);
  EXPECT_EQ(row.reason, "+1.1 % in the first round, -0.3 % in the second: not confirmed");
  EXPECT_EQ(judge(comparison_of(100.0, around(3.0, 0.3), around(-3.0, 0.3)), kSd, {}).verdict, Verdict::kInconclusive);
}

TEST(Delta, IsTheLargerOfItsTwoForms) {
  // 0.15 µs of 5 µs are 3 %.
  Row row = judge(comparison_of(5.0, around(2.0, 0.3)), kSd, {});
  EXPECT_NEAR(row.delta_pct, 3.0, 1e-9);
  EXPECT_EQ(row.verdict, Verdict::kPass);
  Rules rules;
  rules.delta_us = 0.0;
  EXPECT_EQ(need_of(comparison_of(5.0, around(2.0, 0.3)), kSd, rules), Need::kConfirm);
  rules.delta_pct = 4.0;
  EXPECT_NEAR(judge(comparison_of(5.0, around(2.0, 0.3)), kSd, rules).delta_pct, 4.0, 1e-9);
}

TEST(JudgeAll, ReadsTheNoiseOfTheWholeRun) {
  std::vector<model::Comparison> comparisons(6, comparison_of(100.0, around(0.0, 0.3)));
  comparisons[2] = comparison_of(100.0, around(4.0, 0.3), around(4.0, 0.3));
  std::vector<Row> rows = judge_all(comparisons, {}, std::nullopt);
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[0].verdict, Verdict::kPass);
  EXPECT_EQ(rows[2].verdict, Verdict::kRegressed);
  model::ProcessNoise noisy;
  noisy.relative = 0.05;
  rows = judge_all(comparisons, {}, noisy);
  EXPECT_EQ(rows[2].verdict, Verdict::kInconclusive);
  EXPECT_NEAR(rows[2].visible_pct, 100.0 * std::expm1(0.1), 1e-9);  // 4 · √2 · 5 % / √8
  Rules rules;
  rules.delta_pct = 0.0;
  EXPECT_THROW(judge_all(comparisons, rules, std::nullopt), Error);
}

TEST(Rules, OfNothingAreRefused) {
  auto refused = [](auto change) {
    Rules rules;
    change(rules);
    try {
      check(rules);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return true;
    }
    return false;
  };
  EXPECT_FALSE(refused([](Rules&) {}));
  EXPECT_FALSE(refused([](Rules& rules) { rules.delta_us = 0.0; }));
  for (double delta : {0.0, -1.0, kNan, std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(refused([&](Rules& rules) { rules.delta_pct = delta; })) << delta;
  }
  EXPECT_TRUE(refused([](Rules& rules) { rules.delta_us = -0.1; }));
  EXPECT_TRUE(refused([](Rules& rules) { rules.delta_us = kNan; }));
  EXPECT_TRUE(refused([](Rules& rules) { rules.pairs = 0; }));
  EXPECT_TRUE(refused([](Rules& rules) { rules.alpha = 0.0; }));
  EXPECT_TRUE(refused([](Rules& rules) { rules.alpha = 1.0; }));
  EXPECT_TRUE(refused([](Rules& rules) { rules.level = 1.0; }));
  EXPECT_TRUE(refused([](Rules& rules) { rules.level = kNan; }));
}

TEST(Detectable, IsWhatBothRoundsCallWithTheProbability) {
  // Error 1 % / √8, four of it visible (1.414 %), and z(√0.99) = 2.5746 times √(π/3) of it more.
  const double error = 0.01 / std::sqrt(8.0);
  EXPECT_NEAR(detectable_pct(0.01, 1.0, 8), 100.0 * std::expm1(error * (4.0 + 2.5746 * 1.02333)), 1e-3);
  // Where delta is more than that, it is delta and the margin.
  EXPECT_NEAR(detectable_pct(0.01, 5.0, 8), 100.0 * std::expm1(std::log(1.05) + error * 2.5746 * 1.02333), 1e-3);
  EXPECT_NEAR(detectable_pct(0.01, 5.0, 8, 0.25), 5.0, 1e-9);  // each round at even odds
  EXPECT_TRUE(std::isnan(detectable_pct(0.01, 1.0, 5)));
}

}  // namespace
}  // namespace ktune::verdict
