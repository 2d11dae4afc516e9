#include "sweep/budget.h"

#include <gtest/gtest.h>

#include "sweep/finals_cost.h"
#include "sweep/scripted_test.h"

namespace ktune::sweep {
namespace {

using model::Outcome;

TEST(BudgetOfASweep, IsSharedOverTheProblemsThatAreLeft) {
  double now_s = 500.0;
  Budget budget(60.0, [&] { return now_s; });
  budget.begin_problem(3);
  now_s += 9.9;
  EXPECT_FALSE(budget.ends_exploration(1000.0)) << "the finals get no more than half of the share";
  now_s += 0.2;
  EXPECT_TRUE(budget.ends_exploration(1000.0));
  now_s += 7.8;
  EXPECT_FALSE(budget.ends_exploration(0.0)) << "2.1 of 20 s are left";
  EXPECT_TRUE(budget.ends_exploration(2.2)) << "the finals take them";
  now_s += 0.1;
  EXPECT_TRUE(budget.ends_exploration(0.0)) << "a tenth is kept whatever the finals take";
  now_s = 510.0;
  budget.begin_problem(2);  // the first left 10 of its 20 s unused
  now_s += 22.4;
  EXPECT_FALSE(budget.ends_exploration(0.0));
  now_s += 0.2;
  EXPECT_TRUE(budget.ends_exploration(0.0));
  EXPECT_FALSE(budget.is_used_up());
  now_s = 560.0;
  EXPECT_TRUE(budget.is_used_up());
  EXPECT_EQ(budget.elapsed_s(), 60.0);
}

TEST(BudgetOfASweep, OfZeroIsNone) {
  double now_s = 0.0;
  Budget budget(0.0, [&] { return now_s; });
  budget.begin_problem(1);
  now_s = 1e9;
  EXPECT_FALSE(budget.is_used_up());
  EXPECT_FALSE(budget.ends_exploration(1e9));
}

TEST(CostOfFinals, IsWhatLoadsAndBlocksOfTheseTrialsTook) {
  MeasurePolicy policy;  // 10 rounds of 6 ms, 4 last blocks of 11.25 ms
  FinalsCost cost;
  EXPECT_EQ(cost.expected_s(0, policy), 0.0);
  EXPECT_NEAR(cost.expected_s(1, policy), 1.5 * (0.060 + 0.045), 1e-9) << "nothing is known: what they may take";
  cost.add_load(0.2);
  cost.add_load(0.4);
  EXPECT_NEAR(cost.expected_s(1, policy), 1.5 * (0.3 + 0.060 + 0.045), 1e-9);
  cost.add_call(0.012, 8, 1000.0);  // the default: 12 samples a round are the least, 11 fit a last block
  EXPECT_NEAR(cost.expected_s(1, policy), 1.5 * (0.3 + 10 * (0.004 + 0.012) + 4 * (0.004 + 0.011)), 1e-9);
  cost.add_call(0.004, 8, 500.0);
  cost.add_call(9.0, 8, 1125000.0);  // slower than the default: its samples do not count
  const double over_s = 0.004 / 3;
  EXPECT_NEAR(cost.expected_s(5, policy), 1.5 * (5 * (0.3 + 10 * (over_s + 0.012)) + 2 * 4 * (over_s + 0.011)), 1e-9);
}

class WithABudget : public ScriptedSweep {};

TEST_F(WithABudget, ThatEndsInTheHeatEveryWinnerIsConfirmedAndInTime) {
  set_up(250, 3);
  stage_.sample_us = 30000.0;
  options_.finalists = 4;
  options_.budget_s = 72.0;
  const double start_s = stage_.now_s;
  const Summary summary = sweep();
  EXPECT_TRUE(summary.out_of_budget);
  EXPECT_GT(summary.not_visited, 0);
  EXPECT_EQ(summary.not_visited, record().not_visited);
  EXPECT_GT(outcomes().at(Outcome::kMeasured), 10);
  EXPECT_EQ(winner(), 0);
  EXPECT_LE(stage_.now_s - start_s, 72.0);
  EXPECT_GE(stage_.now_s - start_s, 50.0) << "and most of it is used";
}

TEST_F(WithABudget, ThatEndsWhileTheDefaultCompilesNothingIsVisited) {
  options_.budget_s = 5.0;
  for (Script* stuck : {&stage_.reference, &stage_.variants[3]}) {
    stuck->hangs_compiler = true;
    const double start_s = stage_.now_s;
    const Summary summary = sweep();
    EXPECT_TRUE(summary.out_of_budget);
    EXPECT_EQ(record().not_visited, 6);
    EXPECT_EQ(winner(), -1);
    EXPECT_LE(stage_.now_s - start_s, 5.0);
    stuck->hangs_compiler = false;
  }
}

TEST_F(WithABudget, ThatEndsInTheTimersChoiceNothingIsVisited) {
  options_.timer = {};
  options_.budget_s = 5.0;
  stage_.call_s = 6.0;
  const Summary summary = sweep();
  EXPECT_TRUE(summary.out_of_budget);
  EXPECT_EQ(summary.not_visited, 6);
  EXPECT_EQ(record().timer, "events");
  EXPECT_EQ(winner(), -1);
}

TEST_F(WithABudget, OfAnyLengthTheBooksBalanceAndWhatIsMeasuredHasAWinner) {
  set_up(30, 3);
  stage_.sample_us = 1000.0;
  options_.reuse = false;
  options_.timer = {};
  int unfinished = 0;
  for (double budget_s = 0.001; budget_s < 20.0; budget_s *= 1.25) {
    options_.budget_s = budget_s;
    const Summary summary = sweep();
    EXPECT_EQ(winner() >= 0, outcomes().contains(Outcome::kMeasured)) << budget_s;
    EXPECT_EQ(summary.out_of_budget, record().not_visited > 0) << budget_s;
    unfinished += summary.out_of_budget ? 1 : 0;
  }
  EXPECT_GT(unfinished, 10);
  EXPECT_EQ(record().not_visited, 0) << "the longest lasts";
}

TEST_F(WithABudget, EveryProblemHasItsShare) {
  set_up(100, 3, {1000, 2000, 3000});
  stage_.sample_us = 30000.0;
  options_.finalists = 3;
  options_.budget_s = 120.0;
  const double start_s = stage_.now_s;
  const Summary summary = sweep();
  EXPECT_LE(stage_.now_s - start_s, 120.0);
  std::int64_t not_visited = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(winner(i), 0) << i;
    EXPECT_GT(outcomes(record(i)).at(Outcome::kMeasured), 10) << i;
    not_visited += record(i).not_visited;
  }
  EXPECT_EQ(summary.not_visited, not_visited);
}

TEST_F(WithABudget, AProblemThatIsNeverReachedIsRecordedAsNotVisited) {
  set_up(6, 3, {1000, 2000});
  options_.budget_s = 10.0;
  stage_.call_s = 11.0;
  const Summary summary = sweep();
  EXPECT_TRUE(summary.out_of_budget);
  EXPECT_EQ(stage_.count("problem"), 1);
  ASSERT_EQ(ledger_.problems.size(), 2U);
  EXPECT_EQ(record(1).problem.text(), "N=2000");
  EXPECT_EQ(record(1).not_visited, 6);
  EXPECT_EQ(record(1).enumerated, 7);
  EXPECT_EQ(record(1).source_hash, "source");
  EXPECT_EQ(summary.not_visited, 12);
}

TEST_F(WithABudget, TheSameCommandGoesOnFromWhereItEnded) {
  set_up(60, 3);
  stage_.sample_us = 30000.0;
  options_.budget_s = 8.0;  // its finals take more
  int sessions = 0;
  for (bool done = false; !done && sessions < 20; ++sessions) done = !sweep().out_of_budget;
  EXPECT_GT(sessions, 1);
  EXPECT_LT(sessions, 20);
  EXPECT_EQ(record().not_visited, 0);
  EXPECT_EQ(winner(), 0);
}

}  // namespace
}  // namespace ktune::sweep
