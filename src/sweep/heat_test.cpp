#include "sweep/heat.h"

#include <gtest/gtest.h>

#include "sweep/scripted_test.h"

namespace ktune::sweep {
namespace {

using model::Outcome;
using Counts = std::map<Outcome, std::int64_t>;

class InTheHeat : public ScriptedSweep {
 protected:
  /// A heat by itself, without a loop around it.
  void in_a_heat(const RacePolicy& policy, const std::function<void(Heat&)>& use) {
    in_a_session([&](const Context& context) {
      model::ProblemRecord record = unvisited_record(*prepared_[0], session_);
      record.id = ledger_.add_problem(record, *prepared_[0]->full);
      const Recipes recipes(*prepared_[0], facts_, options_, context.compile_key);
      TimerDecision timer(context, recipes);
      GivenOrder strategy({});
      TrialBook book(context, recipes, timer, strategy, record, {});
      FinalsCost cost;
      Sampler sampler(context, recipes, timer, cost);
      Heat heat(context, sampler, book, policy);
      use(heat);
      book.settle();
      return 0;
    });
  }

  static Compiled compiled(search::VariantId id) { return {id, model::KernelBinary{}, true}; }

  /// Much faster than every variant.
  static model::TrialRecord earlier_trial() {
    model::TrialRecord trial;
    trial.timing.n = 8;
    trial.timing.ci_high_us = 1.0;
    return trial;
  }

  std::size_t samples_of(std::int64_t variant) const { return trial_of(variant)->samples.time_us.size(); }
};

TEST_F(InTheHeat, AVariantThatIsClearlyOutLeavesAfterItsFirstBlock) {
  sweep();
  EXPECT_EQ(samples_of(0), 58U) << "the best: two blocks, and its median is known well enough";
  EXPECT_EQ(samples_of(5), 8U) << "25 % slower than the best";
  EXPECT_EQ(trial_of(5)->outcome, Outcome::kMeasured);
}

TEST_F(InTheHeat, UnracedEveryVariantUsesItsWholeTime) {
  options_.race = false;
  sweep();
  for (std::int64_t id = 0; id < 6; ++id) EXPECT_GE(samples_of(id), 140U) << id;
}

TEST_F(InTheHeat, VariantsTakeTheirBlocksInTurn) {
  options_.race = false;
  sweep();
  std::vector<std::string> blocks;
  for (const std::string& verb : stage_.verbs)
    if (verb.starts_with("measure ")) blocks.push_back(verb);
  blocks.resize(12);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(blocks[i], blocks[i + 6]) << "the second round in the order of the first";
  EXPECT_EQ(std::set<std::string>(blocks.begin(), blocks.begin() + 6).size(), 6U);
}

TEST_F(InTheHeat, SixteenVariantsAreOnTheBenchAtMost) {
  set_up(40, 3);
  options_.race = false;
  std::size_t most = 0;
  stage_.each = [&](const std::string&) { most = std::max(most, bench_->loaded()); };
  sweep();
  EXPECT_EQ(most, 16U);
  EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, 40}}));
}

TEST_F(InTheHeat, WhatHasItsShareOfSamplesIsKeptWhenTheSweepIsStopped) {
  options_.race = false;
  stage_.each = [this](const std::string& verb) {
    if (verb == "measure 4" && stage_.count(verb) == 2) stage_.interrupted = true;
  };
  sweep();
  const std::vector<std::int64_t> order = loads();
  const auto kept = std::find(order.begin(), order.end(), 4) - order.begin() + 1;
  EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, kept}})) << "two blocks, 58 samples each";
  EXPECT_EQ(record().not_visited, 6 - kept) << "one block";
  EXPECT_EQ(bench_->loaded(), 6U) << "the bench is not used any more";
}

TEST_F(InTheHeat, OneWithJustItsShareOfSamplesIsKeptAndNothingStaysBehind) {
  stage_.variants[1].fails_at = "load 1";
  stage_.variants[1].outcome = Outcome::kRejected;
  RacePolicy policy;
  policy.race = false;
  policy.min_samples = policy.first_block;
  in_a_heat(policy, [&](Heat& heat) {
    heat.enter(compiled(0));
    heat.enter(compiled(1));
    EXPECT_EQ(bench_->loaded(), 1U) << "the other one waits";
    heat.stop();
    EXPECT_TRUE(heat.is_empty());
    EXPECT_EQ(bench_->loaded(), 0U);
  });
  EXPECT_EQ(samples_of(0), 8U);
  EXPECT_EQ(trial_of(1), nullptr);
}

TEST_F(InTheHeat, OneThatIsShortOfSamplesIsUnloadedAndForgotten) {
  RacePolicy policy;
  policy.race = false;
  in_a_heat(policy, [&](Heat& heat) {
    heat.enter(compiled(0));
    heat.stop();
    EXPECT_EQ(bench_->loaded(), 0U);
  });
  EXPECT_EQ(trial_of(0), nullptr);
}

TEST_F(InTheHeat, ARoundEndsBeforeTheNextBlockWhereItIsTold) {
  RacePolicy policy;
  policy.race = false;
  in_a_heat(policy, [&](Heat& heat) {
    for (const search::VariantId id : {0, 1, 2}) heat.enter(compiled(id));
    int asked = 0;
    heat.run_round([&asked] { return ++asked < 3; });
    EXPECT_EQ(stage_.count("measure 1"), 2);
    EXPECT_EQ(stage_.count("measure 2"), 1);
  });
}

TEST_F(InTheHeat, AnEarlierTrialThatFailedOrIsInconclusiveOrShortPutsNobodyOut) {
  in_a_heat({}, [&](Heat& heat) {
    model::TrialRecord earlier = earlier_trial();
    earlier.outcome = Outcome::kCrashed;
    heat.note(earlier);
    earlier = earlier_trial();
    earlier.warnings = {"inconclusive: throttled"};
    heat.note(earlier);
    earlier = earlier_trial();
    earlier.timing.n = 7;
    heat.note(earlier);
    heat.enter(compiled(0));
    EXPECT_FALSE(heat.is_empty());
    heat.note(earlier_trial());
    heat.enter(compiled(1));
    EXPECT_EQ(samples_of(1), 8U) << "out by the one that counts";
  });
}

TEST_F(InTheHeat, OneThatDoesNotFitBesideTheOthersIsTriedAgainAlone) {
  stage_.variants[1].fails_at = "load 1";
  stage_.variants[1].outcome = Outcome::kRejected;
  std::size_t beside = 99;
  stage_.each = [&](const std::string& verb) {
    if (verb == "load 1" && stage_.count("load 1") == 2) beside = bench_->loaded();
  };
  sweep();
  EXPECT_EQ(beside, 0U);
  EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, 6}}));
}

TEST_F(InTheHeat, OneThatDoesNotFitAloneIsRejectedOnce) {
  stage_.variants[1].fails_at = "load";
  stage_.variants[1].outcome = Outcome::kRejected;
  sweep();
  EXPECT_EQ(stage_.count("load 1"), 2) << "beside the others, and alone";
  EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, 5}, {Outcome::kRejected, 1}}));
}

TEST_F(InTheHeat, AThrottledVariantIsInconclusiveAndPutsNobodyOut) {
  set_up(6, 0);  // it is the first on the bench
  stage_.variants[0].time_us = 5.0;
  stage_.variants[0].throttled = true;
  sweep();
  EXPECT_EQ(samples_of(1), 58U) << "not out, though four times as slow as the throttled one";
  ASSERT_FALSE(trial_of(0)->warnings.empty());
  EXPECT_TRUE(trial_of(0)->warnings.back().starts_with("inconclusive: "));
  EXPECT_EQ(winner(), 0) << "a default is timed again whatever became of its trial";
}

TEST_F(InTheHeat, AnEarlierTrialsIntervalPutsOthersOut) {
  options_.finalists = 1;
  set_up(6, 0);
  sweep();
  set_up(7, 0);
  stage_.variants[6].time_us = 30.0;
  sweep();
  EXPECT_EQ(record().reused, 6);
  EXPECT_EQ(samples_of(6), 8U) << "out by the interval of a trial that was re-used";
}

}  // namespace
}  // namespace ktune::sweep
