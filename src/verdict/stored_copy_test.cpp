#include <gtest/gtest.h>

#include <cmath>

#include "verdict/baselines_for_test.h"
#include "verdict/stored.h"

// The copy is what every kernel is divided by: what is it divided by?

namespace ktune::verdict {
namespace {

const StoredRules kStoredRules;

BaselineKernel copy_for_test(int runs) {
  BaselineKernel kernel =
      kernel_for_test("copy", 262144, std::vector<double>(static_cast<std::size_t>(runs), 1.0), 34.0);
  kernel.problem.op = "copy";
  return kernel;
}

/// Both rounds of a copy that takes `time_us`, and so does its control.
StoredMeasurement copied(double time_us) {
  StoredMeasurement measured;
  measured.processes = processes_for_test(time_us, 1.0);
  for (ControlledFigure& process : measured.processes) process.control = process.kernel;
  measured.fresh = measured.processes;
  measured.control_code_hash = "c0";
  return measured;
}

/// Both rounds of a kernel that is at its level beside a control which the machine moved.
StoredMeasurement beside(double factor, const std::string& code_hash) {
  StoredMeasurement measured;
  measured.processes = measured.fresh = processes_for_test(20.0 * factor, 1.25);
  measured.control_code_hash = code_hash;
  return measured;
}

std::vector<Row> judge_copy(const std::vector<BaselineKernel>& kernels,
                            const std::vector<StoredMeasurement>& measured) {
  std::vector<std::string> notes;
  return judge_stored(histories_of(kernels, kStoredRules), measured, kStoredRules, notes);
}

TEST(StoredCopy, IsNotDividedByItself) {
  const BaselineKernel kernel = copy_for_test(10);
  EXPECT_TRUE(is_own_control(kernel));
  EXPECT_FALSE(is_own_control(kernel_for_test("scale", 1000, {1.25})));
  const Row slower = judge_copy({kernel}, {copied(34.0 * 1.05)}).front();
  EXPECT_EQ(slower.verdict, Verdict::kRegressed);
  EXPECT_NEAR(slower.shift_pct, 5.0, 0.01);
  EXPECT_NEAR(slower.base_figures_us[4], 34.0 * 1.05, 1e-9) << "what was timed is shown and kept";
  EXPECT_EQ(judge_copy({kernel}, {copied(34.0)}).front().verdict, Verdict::kPass);
  EXPECT_EQ(judge_copy({kernel}, {copied(34.0 * 0.9)}).front().verdict, Verdict::kImproved);
}

TEST(StoredCopy, OfAnotherTreeIsAKernelLikeOthers) {
  BaselineKernel kernel = copy_for_test(10);
  kernel.root = SpecRoot::kRepository;
  EXPECT_FALSE(is_own_control(kernel));
}

TEST(StoredCopy, MovesAsTheMachineMovesTheControlsOfOthers) {
  const std::vector<BaselineKernel> kernels{copy_for_test(10),
                                            kernel_for_test("scale", 1000, std::vector<double>(10, 1.25))};
  EXPECT_EQ(judge_copy(kernels, {copied(34.0 * 1.1), beside(1.1, "c0")})[0].verdict, Verdict::kPass);
  EXPECT_EQ(judge_copy(kernels, {copied(34.0 * 1.1), beside(1.0, "c0")})[0].verdict, Verdict::kRegressed);
  EXPECT_EQ(judge_copy(kernels, {copied(34.0), beside(1.1, "c0")})[0].verdict, Verdict::kImproved);
}

TEST(StoredCopy, WhoseCodeChangedIsNotExcusedByControlsThatAreTheSameCode) {
  const std::vector<BaselineKernel> kernels{copy_for_test(10),
                                            kernel_for_test("scale", 1000, std::vector<double>(10, 1.25))};
  EXPECT_EQ(judge_copy(kernels, {copied(34.0 * 1.1), beside(1.1, "c1")})[0].verdict, Verdict::kRegressed);
}

TEST(StoredCopy, HasTheLimitOfItsOwnTimes) {
  BaselineKernel kernel = copy_for_test(10);
  EXPECT_DOUBLE_EQ(level_of(kernel, kStoredRules).limit_pct, 1.0);
  EXPECT_DOUBLE_EQ(level_of(kernel, kStoredRules).ratio, 1.0);
  for (std::size_t i = 0; i < kernel.history.size(); ++i) kernel.history[i].kernel_us *= i % 2 == 0 ? 1.01 : 1.0 / 1.01;
  EXPECT_NEAR(level_of(kernel, kStoredRules).limit_pct, 4.87, 0.01);  // 3 · 1.4826 · ln 1.01 · √(1 + π/20)
}

TEST(StoredCopy, IsTimedAgainWhereItsTimeMoved) {
  const auto histories = histories_of(std::vector{copy_for_test(10)}, kStoredRules);
  const std::vector<StoredMeasurement> moved{copied(34.0 * 1.05)}, still{copied(34.0)};
  EXPECT_TRUE(needs_fresh(histories[0], referenced(histories, moved)[0], kStoredRules));
  EXPECT_FALSE(needs_fresh(histories[0], referenced(histories, still)[0], kStoredRules));
}

}  // namespace
}  // namespace ktune::verdict
