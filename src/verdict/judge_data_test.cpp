// What is not data, and what is never passed for it.

#include <gtest/gtest.h>

#include <limits>

#include "verdict/comparisons_for_test.h"
#include "verdict/judge.h"

namespace ktune::verdict {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A comparison that would pass, and its row.
model::Comparison fine() { return comparison_of(100.0, around(0.0, 0.2)); }
Row judged(const model::Comparison& comparison) { return judge(comparison, 0.003, {}); }

void expect(const model::Comparison& comparison, Verdict verdict, const std::string& reason) {
  Row row = judged(comparison);
  EXPECT_EQ(name_of(row.verdict), name_of(verdict));
  EXPECT_EQ(row.reason, reason);
  EXPECT_EQ(need_of(comparison, 0.003, {}), Need::kNothing);
}

TEST(Times, ThatAreNoneAreNamed) {
  EXPECT_EQ(judged(fine()).verdict, Verdict::kPass);
  model::Comparison comparison = fine();
  comparison.pairs[2].candidate.time_us = kNan;
  expect(comparison, Verdict::kInconclusive, "7 of 8 pairs have times: candidate gave no time in pair 3");
  comparison.pairs[1].base.time_us = kInfinity;
  expect(comparison, Verdict::kInconclusive, "6 of 8 pairs have times: base gave inf µs in pair 2");
  comparison = fine();
  comparison.pairs[7].candidate.time_us = 0.0;
  expect(comparison, Verdict::kInconclusive, "7 of 8 pairs have times: candidate gave 0 µs in pair 8");
  comparison.pairs[7].candidate.time_us = -3.5;
  expect(comparison, Verdict::kInconclusive, "7 of 8 pairs have times: candidate gave -3.5 µs in pair 8");
}

TEST(Times, OfNoPairAreNoData) {
  model::Comparison comparison = fine();
  for (model::FigurePair& pair : comparison.pairs) pair.candidate.time_us = kNan;
  expect(comparison, Verdict::kNoData, "no pair has two times: candidate gave no time in pair 1");
  EXPECT_TRUE(judged(comparison).blocks);
  EXPECT_TRUE(std::isnan(judged(comparison).shift_pct));
  comparison.pairs.clear();
  expect(comparison, Verdict::kNoData, "it was not timed");
}

TEST(Pairs, FewerThanAskedDecideNothing) {
  model::Comparison comparison = fine();
  comparison.pairs.pop_back();
  expect(comparison, Verdict::kInconclusive, "7 of 8 pairs were run");
}

TEST(Pairs, OfTheSecondRoundAreHeldToTheSame) {
  model::Comparison comparison = comparison_of(100.0, around(2.0, 0.2), around(2.0, 0.2));
  EXPECT_EQ(judged(comparison).verdict, Verdict::kRegressed);
  comparison.fresh_pairs[0].base.time_us = kNan;
  Row row = judged(comparison);
  EXPECT_EQ(row.verdict, Verdict::kInconclusive);
  EXPECT_EQ(row.reason, "second round: 7 of 8 pairs have times: base gave no time in pair 1");
}

TEST(Pairs, OfAThrottledDeviceAreLeftOutAndMoreThanAFifthDecideNothing) {
  model::Comparison comparison = fine();
  comparison.pairs[3].candidate.throttled = true;
  comparison.pairs[3].candidate.time_us = 900.0;
  Row row = judged(comparison);
  EXPECT_EQ(row.verdict, Verdict::kPass);
  EXPECT_LT(row.high_pct, 0.3);
  EXPECT_EQ(row.pairs, 8);
  comparison.pairs[4].base.throttled = true;
  expect(comparison, Verdict::kInconclusive, "the device held its clock down in 2 of 8 pairs");
  for (model::FigurePair& pair : comparison.pairs) pair.base.throttled = true;
  expect(comparison, Verdict::kInconclusive, "the device held its clock down in 8 of 8 pairs");
}

TEST(Pairs, TooFewForTheTestOrTheIntervalSaySo) {
  model::Comparison comparison = fine();
  Rules rules;
  rules.pairs = 5;
  comparison.pairs.resize(5);
  Row row = judge(comparison, 0.003, rules);
  EXPECT_EQ(row.verdict, Verdict::kInconclusive);
  EXPECT_EQ(row.reason, "5 pairs cannot reach p <= 0.02 and an interval of 95 %: it takes 6");
  EXPECT_EQ(need_of(comparison, 0.003, rules), Need::kNothing);
  rules.alpha = 0.04;  // 1/32 would do, but five pairs bound a shift at 93.75 % only
  EXPECT_EQ(judge(comparison, 0.003, rules).verdict, Verdict::kInconclusive);
  rules.level = 0.9;
  EXPECT_EQ(judge(comparison, 0.003, rules).verdict, Verdict::kPass);
  rules.alpha = 0.03;
  EXPECT_EQ(judge(comparison, 0.003, rules).verdict, Verdict::kInconclusive);
}

TEST(Timer, ThatServedNobodyDecidesNothing) {
  model::Comparison comparison = fine();
  comparison.timer.reset();
  expect(comparison, Verdict::kInconclusive, "no timer served both versions");
}

TEST(Wrong, IsACandidateThatFailsInAnyWay) {
  model::Comparison comparison = fine();
  comparison.identical = true;
  comparison.candidate.failure = model::Failure{model::Outcome::kWrongResult, "y[3] is 2, not 1", "…"};
  expect(comparison, Verdict::kWrong, "WrongResult: y[3] is 2, not 1");
  comparison.candidate.failure = model::Failure{model::Outcome::kCrashed, "", ""};
  expect(comparison, Verdict::kWrong, "Crashed");
  comparison.base.failure = model::Failure{model::Outcome::kTimedOut, "after 10 s", ""};
  expect(comparison, Verdict::kWrong, "Crashed (base does not run either)");
  comparison.candidate.failure.reset();
  expect(comparison, Verdict::kNoData, "base does not run: TimedOut: after 10 s");
  EXPECT_TRUE(judged(comparison).blocks);
}

TEST(NoData, IsAKernelThatDisappearedAndItBlocks) {
  model::Comparison comparison = fine();
  comparison.candidate.missing = true;
  comparison.identical = true;
  expect(comparison, Verdict::kNoData, "HEAD has it no more");
  EXPECT_TRUE(judged(comparison).blocks);
  comparison.base.missing = true;
  expect(comparison, Verdict::kNoData, "neither version has it");
  EXPECT_TRUE(judged(comparison).blocks);
  comparison.candidate.missing = false;
  expect(comparison, Verdict::kNoData, "new in HEAD: nothing to compare with");
  EXPECT_FALSE(judged(comparison).blocks);
}

TEST(Identical, CodeIsPassedUntimed) {
  model::Comparison comparison = fine();
  comparison.pairs.clear();
  comparison.identical = true;
  comparison.timer.reset();
  expect(comparison, Verdict::kPass, "identical machine code, verified, not timed");
  EXPECT_TRUE(judged(comparison).identical);
}

}  // namespace
}  // namespace ktune::verdict
