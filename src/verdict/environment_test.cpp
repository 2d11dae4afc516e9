#include "verdict/environment.h"

#include <gtest/gtest.h>

#include "verdict/baselines_for_test.h"

namespace ktune::verdict {
namespace {

struct Compared {
  std::vector<BaselineKernel> kernels;
  std::vector<StoredMeasurement> measured;
  std::vector<Row> rows;
  std::vector<std::string> notes;
};

/// Kernels of two ops in turn, ten sessions at a ratio of 1.25, each moved by its factor in both rounds; absolute times
/// by `absolute`, controls too.
Compared run_of(const std::vector<double>& factors, double absolute = 1.0, bool one_op = false) {
  Compared run;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    run.kernels.push_back(kernel_for_test(i % 2 == 0 || one_op ? "scale" : "shift", 1000 + static_cast<int>(i),
                                          std::vector<double>(10, 1.25)));
    const double time_us = 20.0 * factors[i] * absolute;
    StoredMeasurement& measured = run.measured.emplace_back();
    measured.processes = measured.fresh = processes_for_test(time_us, 1.25 * factors[i]);
  }
  run.rows = judge_stored(histories_of(run.kernels, {}), run.measured, StoredRules{}, run.notes);
  return run;
}

std::vector<Verdict> verdicts(const Compared& run) {
  std::vector<Verdict> result;
  for (const Row& row : run.rows) result.push_back(row.verdict);
  return result;
}

constexpr Verdict kPass = Verdict::kPass, kRegressed = Verdict::kRegressed, kEnvironment = Verdict::kEnvironment;

TEST(Environment, IsWhatMovedAlike) {
  const Compared run = run_of({1.06, 1.055, 1.06, 1.065});
  EXPECT_EQ(verdicts(run), std::vector<Verdict>(4, kEnvironment));
  EXPECT_EQ(overall(run.rows), kEnvironment);
  EXPECT_EQ(run.rows[0].reason, "most kernels moved by about +6.0 % against their controls");
  ASSERT_EQ(run.notes.size(), 1U);
  EXPECT_NE(run.notes[0].find("the machine changed, or the control did"), std::string::npos);
}

TEST(Environment, HoldsForFasterToo) {
  EXPECT_EQ(verdicts(run_of({0.93, 0.94, 0.93, 0.935})), std::vector<Verdict>(4, kEnvironment));
}

TEST(Environment, NeedsFourKernels) {
  EXPECT_EQ(verdicts(run_of({1.06, 1.06, 1.06})), std::vector<Verdict>(3, kRegressed));
}

TEST(Environment, NeedsTwoOpsWhereTheBaselineHasTwo) {
  Compared run = run_of({1.06, 1.06, 1.06, 1.06}, 1.0, true);
  EXPECT_EQ(verdicts(run), std::vector<Verdict>(4, kEnvironment));
  run.kernels.push_back(kernel_for_test("shift", 5000, {1.25}));  // of another op, and not timed
  run.measured.emplace_back();
  run.rows = judge_stored(histories_of(run.kernels, {}), run.measured, StoredRules{}, run.notes);
  EXPECT_EQ(run.rows[0].verdict, kRegressed);
}

TEST(Environment, NeedsMoreThanSevenInTen) {
  EXPECT_EQ(verdicts(run_of({1.06, 1.06, 1.06, 1.06, 1.06, 1.06, 1.06, 1.0, 1.0, 1.0})),
            (std::vector<Verdict>{kRegressed, kRegressed, kRegressed, kRegressed, kRegressed, kRegressed, kRegressed,
                                  kPass, kPass, kPass}));
  EXPECT_EQ(verdicts(run_of({1.06, 1.06, 1.06, 1.06, 1.06, 1.06, 1.06, 1.06, 1.0, 1.0})),
            std::vector<Verdict>(10, kEnvironment));
}

TEST(Environment, NeedsAboutTheSameFactor) {
  EXPECT_EQ(verdicts(run_of({1.02, 1.06, 1.15, 1.3})), std::vector<Verdict>(4, kRegressed));
}

TEST(Environment, DoesNotHideWhatIsSlowerThanTheRest) {
  EXPECT_EQ(verdicts(run_of({1.06, 1.06, 1.06, 1.06, 1.2})),
            (std::vector<Verdict>{kEnvironment, kEnvironment, kEnvironment, kEnvironment, kRegressed}));
}

TEST(Environment, IsNoMatterOfMovesBelowTheLimits) {
  EXPECT_EQ(verdicts(run_of({1.004, 1.004, 1.004, 1.004, 1.05})),
            (std::vector<Verdict>{kPass, kPass, kPass, kPass, kRegressed}));
}

TEST(Environment, IsANoteWhereOnlyTheTimesMoved) {
  const Compared run = run_of({1.0, 1.0, 1.0, 1.0}, 1.1);
  EXPECT_EQ(verdicts(run), std::vector<Verdict>(4, kPass));
  ASSERT_EQ(run.notes.size(), 1U);
  EXPECT_EQ(run.notes[0].substr(0, 54), "times moved by about +10.0 %, the controls' too: clock");
  EXPECT_TRUE(run_of({1.0, 1.0, 1.0, 1.0}, 1.005).notes.empty());
}

/// One kernel of ten sessions, 20 µs beside a control of 16 µs, both moved by their factors.
Row one_moved(double kernel, double control) {
  Compared run;
  run.kernels.push_back(kernel_for_test("scale", 1000, std::vector<double>(10, 1.25)));
  StoredMeasurement& measured = run.measured.emplace_back();
  measured.processes = measured.fresh = processes_for_test(20.0 * kernel, 1.25 * kernel / control);
  return judge_stored(histories_of(run.kernels, {}), run.measured, StoredRules{}, run.notes).front();
}

TEST(Environment, IsAKernelThatStoodStillWhileItsControlMoved) {
  const Row row = one_moved(1.0, 1.1);
  EXPECT_EQ(row.verdict, kEnvironment);
  EXPECT_EQ(row.reason, "its control moved by +10.0 %, it did not (+0.0 %): the machine changed, or the control did");
  EXPECT_EQ(one_moved(1.0, 0.9).verdict, kEnvironment);
  EXPECT_EQ(one_moved(0.96, 1.06).verdict, kEnvironment) << "less than half of it is the kernel's own";
  EXPECT_EQ(one_moved(0.92, 1.02).verdict, Verdict::kImproved);
  EXPECT_EQ(one_moved(1.1, 1.0).verdict, kRegressed);
  EXPECT_EQ(one_moved(1.1, 1.1).verdict, kPass);
}

TEST(Environment, AMachineThatIsSlowerAsAWholeHidesNoKernelThatBecameFaster) {
  Compared run = run_of({1.0, 1.0, 1.0, 1.0, 0.9}, 1.1);  // by itself the last one stood still
  EXPECT_EQ(verdicts(run), (std::vector<Verdict>{kPass, kPass, kPass, kPass, Verdict::kImproved}));
}

}  // namespace
}  // namespace ktune::verdict
