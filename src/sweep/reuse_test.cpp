#include <gtest/gtest.h>

#include "sweep/scripted_test.h"
#include "sweep/trial_book.h"

namespace ktune::sweep {
namespace {

using model::Outcome;
using Counts = std::map<Outcome, std::int64_t>;
using Texts = std::vector<std::string>;

class Reuse : public ScriptedSweep {
 protected:
  Reuse() { options_.explain = true; }
};

TEST_F(Reuse, WhereNothingChangedNothingIsLaunchedAndTheWinnerIsTakenOver) {
  stage_.variants[1].time_us = 20.0;
  sweep();
  const std::size_t trials = ledger_.trials.size();
  const Summary summary = sweep();
  EXPECT_EQ(stage_.verbs, Texts{});
  EXPECT_EQ(summary.reused, 6);
  EXPECT_EQ(summary.trials, 0);
  EXPECT_EQ(record().reused, 6);
  EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, 6}}));
  EXPECT_EQ(ledger_.trials.size(), trials);
  EXPECT_EQ(winner(), 0);
  EXPECT_EQ(tie_set(), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(messages_, Texts{});
}

TEST_F(Reuse, FailuresThatSaySomethingOfTheVariantAreReusedTheMachinesAreNot) {
  for (std::int64_t id = 0; id < 5; ++id) stage_.variants[id].fails_at = "verify";
  stage_.variants[0].outcome = Outcome::kWrongResult;
  stage_.variants[1].outcome = Outcome::kCrashed;
  stage_.variants[2].outcome = Outcome::kTimedOut;
  stage_.variants[4].outcome = Outcome::kLaunchFailed;
  stage_.variants[4].transient = true;
  stage_.variants[3].fails_at = "";
  sweep();
  sweep();
  EXPECT_EQ(record().reused, 3);
  EXPECT_EQ(loads().size(), 3U);
  std::sort(messages_.begin(), messages_.end());
  ASSERT_EQ(messages_.size(), 3U);
  EXPECT_TRUE(messages_[0].ends_with(": it ended as Crashed, which is not re-used")) << messages_[0];
  EXPECT_TRUE(messages_[0].starts_with("P=1: measured again, changed since trial ")) << messages_[0];
  EXPECT_TRUE(messages_[1].ends_with(": it ended as TimedOut, which is not re-used")) << messages_[1];
  EXPECT_TRUE(messages_[2].ends_with(": it ended as LaunchFailed, which is not re-used")) << messages_[2];
}

TEST_F(Reuse, WhatChangedIsSaidAndMeasuredAgain) {
  sweep();
  source_ = "edited";
  facts_.driver = "580";
  sweep();
  EXPECT_EQ(record().reused, 0);
  EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, 6}}));
  ASSERT_EQ(messages_.size(), 6U);
  EXPECT_NE(messages_[0].find("P=3: measured again, changed since trial "), std::string::npos) << messages_[0];
  EXPECT_NE(messages_[0].find("driver ( → 580)"), std::string::npos) << messages_[0];
  EXPECT_NE(messages_[0].find("source (source → edited)"), std::string::npos) << messages_[0];
}

TEST_F(Reuse, ANewValueMeasuresOneVariantAndTheFinalsCompileTheOthers) {
  sweep();
  set_up(7, 3);
  stage_.variants[6].time_us = 15.0;
  const Summary summary = sweep();
  EXPECT_EQ(messages_, Texts{"P=6: never measured before"});
  EXPECT_EQ(summary.trials, 1);
  EXPECT_EQ(record().reused, 6);
  EXPECT_EQ(winner(), 6);
  EXPECT_EQ(stage_.count("measure 0"), 10) << "in the rounds only";
  EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, 7}}));
}

TEST_F(Reuse, APartThatAnEarlierTrialDidNotRecordIsAMiss) {
  sweep();
  for (model::TrialRecord& trial : ledger_.trials) {
    trial.fingerprint_parts.erase("race");
    trial.fingerprint += "old";
  }
  sweep();
  ASSERT_EQ(messages_.size(), 6U);
  EXPECT_TRUE(messages_[0].ends_with(": race (not recorded then)")) << messages_[0];
}

TEST_F(Reuse, IsRefusedWithoutAWordWhereItIsNotWanted) {
  sweep();
  options_.reuse = false;
  const Summary summary = sweep();
  EXPECT_EQ(summary.reused, 0);
  EXPECT_EQ(summary.trials, 6);
  EXPECT_EQ(messages_, Texts{});
  EXPECT_NE(trial_of(0, true), nullptr) << "the finals are timed again too";
}

TEST_F(Reuse, AnUnfinishedChoiceIsNotTakenOver) {
  sweep();
  ledger_.problems.back().winner = {};
  sweep();
  EXPECT_EQ(record().reused, 6);
  EXPECT_EQ(winner(), 0);
  EXPECT_EQ(stage_.count("measure 0"), 10 + 4);
}

}  // namespace
}  // namespace ktune::sweep
