#include "sweep/finals.h"

#include <gtest/gtest.h>

#include "sweep/scripted_test.h"

namespace ktune::sweep {
namespace {

using model::Outcome;
using Counts = std::map<Outcome, std::int64_t>;
using Ids = std::vector<std::int64_t>;

class InTheFinals : public ScriptedSweep {
 protected:
  /// Runs `what` when the finals begin.
  void at_the_finals(const std::function<void()>& what) {
    observer_.progress = [what](const ProblemStatus& status) {
      if (status.finals) what();
    };
  }
  /// The warning of the winner's last round that begins with `key`, "" where there is none.
  std::string doubt(const std::string& key) const {
    for (const std::string& warning : trial_of(winner(), true)->warnings)
      if (warning.starts_with(key)) return warning;
    return "";
  }
};

TEST_F(InTheFinals, OnlyWinnerAndDefaultAreTimedALastTime) {
  sweep();
  EXPECT_EQ(winner(), 0);
  EXPECT_EQ(tie_set(), Ids{0});
  for (std::int64_t id = 0; id < 6; ++id) EXPECT_EQ(trial_of(id, true) != nullptr, id == 0 || id == 3) << id;
  EXPECT_EQ(trial_of(0, true)->samples.time_us.size(), 448U) << "four blocks of what 11 ms hold";
  EXPECT_EQ(stage_.count("measure 0"), 2 + 10 + 4);
  EXPECT_EQ(trial_of(0, true)->fingerprint_parts.at("round"), "final");
}

TEST_F(InTheFinals, AtMostSoManyTakePartBesidesTheDefaultAndTheWinnerOfBefore) {
  options_.reuse = false;
  options_.finalists = 2;
  stage_.variants[5].time_us = 10.0;
  sweep();
  ASSERT_EQ(winner(), 5);
  stage_.variants[5].time_us = 30.0;
  sweep();
  std::set<std::int64_t> timed;
  for (std::int64_t id = 0; id < 6; ++id)
    if (stage_.count("measure " + std::to_string(id)) > 10) timed.insert(id);
  EXPECT_EQ(timed, (std::set<std::int64_t>{0, 1, 3, 5}));
  EXPECT_EQ(winner(), 0);
}

TEST_F(InTheFinals, OfATieTheFirstWinsUnlessTheDefaultIsInIt) {
  options_.reuse = false;
  stage_.variants[1].time_us = stage_.variants[4].time_us = 18.0;
  sweep();
  EXPECT_EQ(tie_set(), (Ids{1, 4}));
  EXPECT_EQ(winner(), 1);
  ledger_ = {};
  stage_.variants[3].time_us = 18.0;
  sweep();
  EXPECT_EQ(tie_set(), (Ids{1, 3, 4}));
  EXPECT_EQ(winner(), 3);
}

TEST_F(InTheFinals, TheWinnerOfBeforeStaysWhileItTies) {
  options_.reuse = false;
  stage_.variants[4].time_us = 18.0;
  sweep();
  ASSERT_EQ(winner(), 4);
  stage_.variants[1].time_us = 18.0;
  sweep();
  EXPECT_EQ(tie_set(), (Ids{1, 4}));
  EXPECT_EQ(winner(), 4);
  stage_.variants[1].time_us = 17.0;
  sweep();
  EXPECT_EQ(winner(), 1) << "1 µs is no tie";
}

TEST_F(InTheFinals, AFinalistThatFailsInAnyVerbIsOutAndCostsTheOthersNothing) {
  // Two blocks in the heat, ten in the rounds, then the last round.
  for (const char* verb : {"load 2", "verify 2", "measure 3", "measure 7", "measure 13", "measure 16"})
    for (const Outcome outcome : {Outcome::kCrashed, Outcome::kTimedOut, Outcome::kWrongResult}) {
      options_.reuse = false;
      stage_.variants[0].fails_at = verb;
      stage_.variants[0].outcome = outcome;
      sweep();
      EXPECT_EQ(winner(), 1) << verb << " " << name_of(outcome);
      EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, 6}})) << verb;
      EXPECT_EQ(trial_of(0, true), nullptr) << verb;
      ASSERT_NE(trial_of(1, true), nullptr) << verb;
      EXPECT_EQ(bench_->loaded(), 0U) << verb;
    }
}

TEST_F(InTheFinals, ThereIsNoWinnerWhereEveryFinalistFails) {
  for (auto& [id, script] : stage_.variants) script.fails_at = "verify 2";
  const Summary summary = sweep();
  EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, 6}}));
  EXPECT_EQ(winner(), -1);
  EXPECT_TRUE(summary.failed_problems.empty());
}

TEST_F(InTheFinals, RoundsOfAThrottledDeviceAreLeftOutWhereTheyAreFew) {
  at_the_finals([this] {
    const auto begun = stage_.verbs.size();
    stage_.each = [this, begun](const std::string& verb) {  // the first round, of six finalists
      const auto blocks = std::count_if(stage_.verbs.begin() + static_cast<std::ptrdiff_t>(begun), stage_.verbs.end(),
                                        [](const std::string& one) { return one.starts_with("measure "); });
      stage_.variants[1].throttled = verb == "measure 1" && blocks <= 6;
      stage_.variants[1].time_us = stage_.variants[1].throttled ? 1.0 : 21.0;
    };
  });
  sweep();
  EXPECT_EQ(winner(), 0);
  EXPECT_EQ(doubt("inconclusive"), "");
}

TEST_F(InTheFinals, ManyRoundsOfAThrottledDeviceAreADoubtOfTheChoice) {
  at_the_finals([this] { stage_.variants[2].throttled = true; });
  sweep();
  EXPECT_EQ(winner(), 0);
  EXPECT_TRUE(doubt("inconclusive").starts_with("inconclusive: 10 of 10 rounds that chose the winner were timed while"))
      << doubt("inconclusive");
}

TEST_F(InTheFinals, OnADeviceThatIsThrottledThroughoutTheBestStillWinsAndSaysSo) {
  for (auto& [id, script] : stage_.variants) script.throttled = true;
  sweep();
  EXPECT_EQ(winner(), 0);
  EXPECT_NE(doubt("inconclusive"), "");
}

TEST_F(InTheFinals, AUsedUpBudgetEndsTheRoundsAfterThreeAndTheWinnerSaysSo) {
  options_.budget_s = 60.0;
  at_the_finals([this] { stage_.call_s = 20.0; });
  const Summary summary = sweep();
  EXPECT_EQ(stage_.count("measure 0"), 2 + 3 + 4);
  EXPECT_EQ(winner(), 0);
  EXPECT_TRUE(doubt("few-samples").starts_with("few-samples: the budget left 3 of 10 rounds to choose the winner"))
      << doubt("few-samples");
  EXPECT_FALSE(summary.out_of_budget) << "every variant was visited";
}

TEST_F(InTheFinals, ABudgetThatLastsLeavesNoDoubt) {
  options_.budget_s = 60.0;
  sweep();
  EXPECT_EQ(doubt("few-samples"), "");
}

TEST_F(InTheFinals, AReferenceThatFailsOnlyThenIsTheProblemsFailure) {
  sweep();
  set_up(6, 3);
  ledger_.trials.erase(std::remove_if(ledger_.trials.begin(), ledger_.trials.end(),
                                      [](const model::TrialRecord& trial) { return trial.is_final; }),
                       ledger_.trials.end());
  ledger_.links.clear();
  ledger_.problems.clear();
  stage_.reference.fails_at = "problem";
  const Summary summary = sweep();
  EXPECT_EQ(record().reused, 6);
  EXPECT_EQ(winner(), -1);
  EXPECT_EQ(summary.failed_problems,
            std::vector<std::string>{"scale N=1000: the reference could not be computed: dies\nstack"});
}

}  // namespace
}  // namespace ktune::sweep
