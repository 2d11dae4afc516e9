#include "verdict/stored.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "verdict/baselines_for_test.h"

namespace ktune::verdict {
namespace {

const StoredRules kRules;

/// Log ratios −2s, −s, 0, s, 2s, …: the median is `centre`, the MAD of H of them known.
std::vector<double> alternating(int runs, double step_log) {
  std::vector<double> ratios;
  for (int i = 0; i < runs; ++i) ratios.push_back(std::exp(i % 2 == 0 ? step_log : -step_log));
  return ratios;
}

double limit(const std::vector<double>& ratios, double kernel_us = 100.0) {
  return level_of(kernel_for_test("scale", 1000, ratios, kernel_us), kRules).limit_pct;
}

StoredMeasurement measured(double kernel_us, double ratio, double fresh_ratio = 0.0, double spread_pct = 0.2) {
  StoredMeasurement measurement;
  measurement.processes = processes_for_test(kernel_us, ratio, spread_pct);
  if (fresh_ratio > 0.0) measurement.fresh = processes_for_test(kernel_us, fresh_ratio, spread_pct);
  return measurement;
}

Row judge_one(const BaselineKernel& kernel, const StoredMeasurement& measurement) {
  std::vector<std::string> notes;
  return judge_stored(histories_of(std::span(&kernel, 1), kRules), std::span(&measurement, 1), kRules, notes).front();
}

std::vector<double> steady(int runs) { return std::vector<double>(static_cast<std::size_t>(runs), 1.25); }

TEST(StoredLimit, IsFivePercentUntilTenSessions) {
  EXPECT_DOUBLE_EQ(limit(alternating(1, 0.01)), 5.0);
  EXPECT_DOUBLE_EQ(limit(alternating(9, 0.01)), 5.0);
}

TEST(StoredLimit, FollowsTheHistoryFromTenSessionsOn) {
  const double expected10 = 100.0 * std::expm1(3.0 * 1.4826 * 0.01 * std::sqrt(1.0 + std::numbers::pi / 20.0));
  EXPECT_NEAR(limit(alternating(10, 0.01)), expected10, 1e-9);
  EXPECT_NEAR(expected10, 4.90, 0.01);
  const double expected20 = 100.0 * std::expm1(3.0 * 1.4826 * 0.01 * std::sqrt(1.0 + std::numbers::pi / 40.0));
  EXPECT_NEAR(limit(alternating(20, 0.01)), expected20, 1e-9);
  EXPECT_NEAR(expected20, 4.73, 0.01);
}

TEST(StoredLimit, LooksAtTheNewestTwentySessions) {
  std::vector<double> ratios = alternating(20, 0.2);
  for (const double ratio : alternating(20, 0.01)) ratios.push_back(ratio);
  EXPECT_NEAR(limit(ratios), limit(alternating(20, 0.01)), 1e-9);
}

TEST(StoredLimit, DoesNotTakeAStepForNoise) {
  std::vector<double> ratios(6, 0.5);
  ratios.insert(ratios.end(), 6, 0.4);
  EXPECT_DOUBLE_EQ(limit(ratios), 5.0);  // its MAD alone: 69.5 %
  // Half a limit up, and the runs differ by 0.1 % from one to the next.
  ratios.clear();
  for (int i = 0; i < 12; ++i) ratios.push_back((i < 6 ? 1.0 : 1.04) * (i % 2 == 0 ? 1.001 : 1.0));
  EXPECT_DOUBLE_EQ(limit(ratios), 5.0);
}

TEST(StoredLimit, IsBeyondItsFirstWhereSessionsDifferThatMuch) {
  // Steps of 6 % up and down: 1.4826/√2 of them is more than 1.4826 of the MAD, 3 %, which holds.
  const double mad_pct = 100.0 * std::expm1(3.0 * 1.4826 * 0.03 * std::sqrt(1.0 + std::numbers::pi / 40.0));
  EXPECT_NEAR(limit(alternating(20, 0.03)), mad_pct, 1e-9);
  // The same values, each lasting five runs: most steps are nothing.
  std::vector<double> slow;
  for (int i = 0; i < 20; ++i) slow.push_back(std::exp(i / 5 % 2 == 0 ? 0.03 : -0.03));
  EXPECT_DOUBLE_EQ(limit(slow), 5.0);
  // A slope of 2.5 % a run: that much is allowed for, not the whole climb.
  std::vector<double> stairs;
  for (int i = 0; i < 16; ++i) stairs.push_back(std::exp(0.025 * i));
  const double step_pct =
      100.0 * std::expm1(3.0 * 1.4826 / std::numbers::sqrt2 * 0.025 * std::sqrt(1.0 + std::numbers::pi / 32.0));
  EXPECT_NEAR(limit(stairs), step_pct, 1e-9);
}

TEST(StoredLimit, IsOnePercentAtTheLeast) { EXPECT_DOUBLE_EQ(limit(steady(10)), 1.0); }

TEST(StoredLimit, IsAFewTenthsOfAMicrosecondForShortKernels) {
  EXPECT_DOUBLE_EQ(limit(steady(10), 5.0), 3.0);  // 0.15 µs of 5
  EXPECT_DOUBLE_EQ(limit(steady(1), 2.0), 7.5);
}

TEST(StoredLevel, IsTheMedianOfTheSessions) {
  const Level level = level_of(kernel_for_test("scale", 1000, {1.0, 1.5, 1.1}, 30.0), kRules);
  EXPECT_NEAR(level.ratio, 1.1, 1e-12);
  EXPECT_DOUBLE_EQ(level.kernel_us, 30.0);
  EXPECT_NEAR(level.control_us, 30.0 / 1.1, 1e-9);
  EXPECT_EQ(level.entries, 3);
}

TEST(StoredGate, PassesWhatStoodStill) {
  const Row row = judge_one(kernel_for_test("scale", 1000, steady(10)), measured(20.0, 1.25));
  EXPECT_EQ(row.verdict, Verdict::kPass);
  EXPECT_EQ(row.reason, "");
  EXPECT_NEAR(row.shift_pct, 0.0, 1e-3);
  EXPECT_LT(row.high_pct, 1.0);
  EXPECT_DOUBLE_EQ(row.delta_pct, 1.0);
  EXPECT_DOUBLE_EQ(row.base_us, 20.0);
  EXPECT_NEAR(row.candidate_us, 20.0, 1e-9);
  EXPECT_EQ(row.pairs, 9);
  EXPECT_NEAR(row.base_figures_us.at(0), 16.0, 1e-9);
  EXPECT_GE(row.visible_pct, row.delta_pct);
}

TEST(StoredGate, ComparesRatiosNotTimes) {
  // Twice as slow as ever, and so is the control.
  EXPECT_EQ(judge_one(kernel_for_test("scale", 1000, steady(10)), measured(40.0, 1.25)).verdict, Verdict::kPass);
}

TEST(StoredGate, CallsARegressionThatBothRoundsShow) {
  const BaselineKernel kernel = kernel_for_test("scale", 1000, steady(10));
  const Row row = judge_one(kernel, measured(20.4, 1.25 * 1.02, 1.25 * 1.02));
  EXPECT_EQ(row.verdict, Verdict::kRegressed);
  EXPECT_TRUE(row.confirmed);
  EXPECT_NEAR(row.shift_pct, 2.0, 0.01);
  EXPECT_GT(row.low_pct, 1.0);
  EXPECT_EQ(row.pairs, 18);
  const Row better = judge_one(kernel, measured(19.6, 1.25 / 1.02, 1.25 / 1.02));
  EXPECT_EQ(better.verdict, Verdict::kImproved);
  EXPECT_NEAR(better.shift_pct, -100.0 * 0.02 / 1.02, 0.01);
}

TEST(StoredGate, DoesNotCallWhatOneRoundShows) {
  const BaselineKernel kernel = kernel_for_test("scale", 1000, steady(10));
  EXPECT_EQ(judge_one(kernel, measured(20.4, 1.25 * 1.02)).verdict, Verdict::kInconclusive);  // no second round
  Row row = judge_one(kernel, measured(20.4, 1.25 * 1.02, 1.25));
  EXPECT_EQ(row.verdict, Verdict::kInconclusive);
  EXPECT_EQ(row.reason, "the interval reaches +1.7 %, the limit is 1.0 %");
  row = judge_one(kernel, measured(20.4, 1.25 * 1.02, 1.25 * 1.0075));
  EXPECT_EQ(row.verdict, Verdict::kInconclusive);
  EXPECT_EQ(row.reason, "beyond its limit of 1.0 %, but not in both rounds of processes");
}

TEST(StoredGate, WaitsForItsFirstTenSessionsBeforeItIsStrict) {
  const BaselineKernel young = kernel_for_test("scale", 1000, steady(9));
  EXPECT_EQ(judge_one(young, measured(20.4, 1.25 * 1.02)).verdict, Verdict::kPass);
  EXPECT_EQ(judge_one(young, measured(21.2, 1.25 * 1.06, 1.25 * 1.06)).verdict, Verdict::kRegressed);
}

TEST(StoredGate, PassesOnlyWhatItCanTellFromTheLimit) {
  const Row row = judge_one(kernel_for_test("scale", 1000, steady(10)), measured(20.0, 1.25, 1.25, 6.0));
  EXPECT_EQ(row.verdict, Verdict::kInconclusive);
  EXPECT_GT(row.high_pct, 1.0);
  EXPECT_NE(row.reason.find("the limit is 1.0 %"), std::string::npos) << row.reason;
}

TEST(StoredGate, AsksForFreshProcessesWhereItMatters) {
  const BaselineKernel kernel = kernel_for_test("scale", 1000, steady(10));
  const KernelHistory history{kernel, level_of(kernel, kRules)};
  EXPECT_FALSE(needs_fresh(history, measured(20.0, 1.25), kRules));
  EXPECT_TRUE(needs_fresh(history, measured(20.0, 1.25 * 1.02), kRules));
  EXPECT_TRUE(needs_fresh(history, measured(20.0, 1.25 / 1.02), kRules));
  EXPECT_TRUE(needs_fresh(history, measured(20.0, 1.25, 0.0, 6.0), kRules));  // undecided
  StoredMeasurement failed = measured(20.0, 1.25 * 1.02);
  failed.failure = model::Failure{model::Outcome::kCrashed, "gone", ""};
  EXPECT_FALSE(needs_fresh(history, failed, kRules));
}

TEST(StoredGate, NeverPassesWhatItDidNotMeasure) {
  const BaselineKernel kernel = kernel_for_test("scale", 1000, steady(10));
  StoredMeasurement measurement = measured(20.0, 1.25);
  measurement.missing = "the tree no longer has the op scale";
  Row row = judge_one(kernel, measurement);
  EXPECT_EQ(row.verdict, Verdict::kNoData);
  EXPECT_TRUE(row.blocks);
  EXPECT_EQ(row.candidate_variant, "");
  EXPECT_EQ(row.reason, "the tree no longer has the op scale");

  measurement = measured(20.0, 1.25);
  measurement.failure = model::Failure{model::Outcome::kWrongResult, "y: 3 of 1000 differ", ""};
  row = judge_one(kernel, measurement);
  EXPECT_EQ(row.verdict, Verdict::kWrong);
  EXPECT_EQ(row.reason, "WrongResult: y: 3 of 1000 differ");

  measurement.failure = model::Failure{model::Outcome::kRejected, "the timer 'cupti' is not available", ""};
  EXPECT_EQ(judge_one(kernel, measurement).verdict, Verdict::kNoData);
  EXPECT_EQ(judge_one(kernel, StoredMeasurement{}).verdict, Verdict::kNoData);
}

TEST(StoredGate, LeavesOutDisturbedProcessesUpToAFifth) {
  const BaselineKernel kernel = kernel_for_test("scale", 1000, steady(10));
  StoredMeasurement measurement = measured(20.0, 1.25);
  measurement.processes[8].kernel = {90.0, 100, true};
  Row row = judge_one(kernel, measurement);
  EXPECT_EQ(row.verdict, Verdict::kPass);
  EXPECT_EQ(row.pairs, 8);
  measurement.processes[7].control.throttled = true;
  row = judge_one(kernel, measurement);
  EXPECT_EQ(row.verdict, Verdict::kInconclusive);
  EXPECT_EQ(row.reason, "2 of 9 processes were disturbed (throttled, or a worker died)");
  EXPECT_TRUE(std::isnan(row.shift_pct));
  for (std::size_t i = 0; i < 4; ++i)
    measurement.processes[i].kernel.time_us = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(judge_one(kernel, measurement).reason, "3 of 9 processes gave figures, 6 are needed");
}

TEST(StoredGate, SaysThatARegressedKernelsCodeIsTheSame) {
  BaselineKernel kernel = kernel_for_test("scale", 1000, steady(10));
  StoredMeasurement measurement = measured(20.4, 1.25 * 1.02, 1.25 * 1.02);
  kernel.code_hash = measurement.code_hash = "h1";
  EXPECT_EQ(judge_one(kernel, measurement).reason,
            "its machine code is the baseline's: look at the machine, or at its launches");
  measurement.code_hash = "h2";
  EXPECT_EQ(judge_one(kernel, measurement).reason, "");
}

TEST(StoredGate, NotesAControlWhoseCodeChanged) {
  const BaselineKernel kernel = kernel_for_test("scale", 1000, steady(10));
  StoredMeasurement measurement = measured(20.0, 1.25);
  std::vector<std::string> notes;
  measurement.control_code_hash = "c0";
  judge_stored(histories_of(std::span(&kernel, 1), kRules), std::span(&measurement, 1), kRules, notes);
  EXPECT_TRUE(notes.empty());
  measurement.control_code_hash = "c1";
  judge_stored(histories_of(std::span(&kernel, 1), kRules), std::span(&measurement, 1), kRules, notes);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0], "the control's machine code is not the baseline's: copy N=262144 f32");
}

TEST(HistoryEntry, IsWhatTheProcessesSay) {
  const auto entry = entry_of(processes_for_test(20.0, 1.25, 1.0), "2026-11-30", "abc");
  ASSERT_TRUE(entry.has_value());
  EXPECT_NEAR(entry->ratio, 1.25, 1e-4);
  EXPECT_DOUBLE_EQ(entry->kernel_us, 20.0);
  EXPECT_DOUBLE_EQ(entry->control_us, 16.0);
  EXPECT_NEAR(entry->process_sd_pct, 1.369, 0.002);  // of 0.5 % steps: 0.5 · √7.5
  EXPECT_EQ(entry->processes, 9);
  EXPECT_EQ(entry->commit, "abc");
  EXPECT_FALSE(entry_of(processes_for_test(20.0, 1.25, 1.0, 5), "d", "c").has_value());
}

}  // namespace
}  // namespace ktune::verdict
