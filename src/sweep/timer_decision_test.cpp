#include "sweep/timer_decision.h"

#include <gtest/gtest.h>

#include "sweep/scripted_test.h"

namespace ktune::sweep {
namespace {

using model::Outcome;
using Counts = std::map<Outcome, std::int64_t>;
using Texts = std::vector<std::string>;

/// The default is number 3.
class AutoTimer : public ScriptedSweep {
 protected:
  AutoTimer() { options_.timer = {}; }
  void expect_all_timed_by(const std::string& timer) const {
    for (const std::int64_t id : {0, 1, 2, 4, 5}) EXPECT_EQ(bench_->timers[id], std::set<std::string>{timer}) << id;
    EXPECT_EQ(record().timer, timer);
    EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, 6}}));
  }
};

TEST_F(AutoTimer, ADefaultBelow20MicrosecondsTakesCuptiForAll) {
  stage_.variants[3].time_us = 19.0;
  sweep();
  expect_all_timed_by("cupti");
  EXPECT_EQ(messages_, Texts{"scale N=1000: timed by cupti (the default takes 19.0 µs by events)"});
}

TEST_F(AutoTimer, ASlowerDefaultOrNoCuptiTakesEvents) {
  options_.reuse = false;
  sweep();
  expect_all_timed_by("events");
  EXPECT_EQ(messages_, Texts{"scale N=1000: timed by events (the default takes 23.0 µs by events)"});
  stage_.variants[3].time_us = 19.0;
  missing_timers_ = {"cupti"};
  sweep();
  expect_all_timed_by("events");
  EXPECT_EQ(messages_,
            Texts{"scale N=1000: timed by events (the default takes 19.0 µs by events; CUPTI cannot be used: no such "
                  "timer)"});
}

TEST_F(AutoTimer, AReusedDefaultDecidesWithoutMeasuring) {
  stage_.variants[3].time_us = 19.0;
  sweep();
  sweep();
  EXPECT_EQ(stage_.verbs, Texts{});
  EXPECT_EQ(messages_, Texts{"scale N=1000: timed by cupti (as decided when its default was measured)"});
  EXPECT_EQ(record().timer, "cupti");
}

TEST_F(AutoTimer, VariantsThatWereCompiledBeforeTheDecisionAreLookedUpAfterIt) {
  stage_.variants[3].time_us = 19.0;
  sweep();
  for (model::TrialRecord& trial : ledger_.trials)  // only the default is to be measured again
    if (trial.variant.values[0].second.number == 3 && !trial.is_final) trial.fingerprint += "old";
  sweep();
  EXPECT_EQ(record().reused, 5);
  EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, 6}}));
}

TEST_F(AutoTimer, ADefaultThatCannotBeTimedTakesEventsAndIsTriedAgain) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"load 1", "the default cannot be timed: fails at load 1"},
      {"verify 1", "the default cannot be timed: fails at verify 1"},
      {"measure 1", "the default cannot be timed: fails at measure 1"}};
  for (const auto& [verb, why] : cases) {
    options_.reuse = false;
    stage_.variants[3].fails_at = verb;
    sweep();
    EXPECT_EQ(messages_, Texts{"scale N=1000: timed by events (" + why + ")"});
    EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, 6}})) << verb;
  }
}

TEST_F(AutoTimer, ADefaultThatDoesNotWorkTakesEvents) {
  for (const char* verb : {"compile", "load", "verify", "measure"}) {
    options_.reuse = false;
    stage_.variants[3].fails_at = verb;
    sweep();
    EXPECT_EQ(record().timer, "events");
    EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, 5}, {Outcome::kCrashed, 1}})) << verb;
    EXPECT_EQ(winner(), 0);
  }
}

TEST_F(AutoTimer, AWorkerThatCuptiTakesDownCostsNothing) {
  stage_.variants[3].time_us = 19.0;
  stage_.variants[3].fails_at = "measure 2";
  sweep();
  expect_all_timed_by("events");
}

TEST_F(AutoTimer, ElsewhereItIsWhateverTheDeviceTakes) {
  facts_.kind = "fake";
  sweep();
  EXPECT_EQ(record().timer, "script") << "as the trials say";
  EXPECT_EQ(messages_, Texts{});
  for (const auto& [id, timers] : bench_->timers) EXPECT_EQ(timers, std::set<std::string>{"auto"}) << id;
}

TEST_F(AutoTimer, ANamedTimerIsAskedForAndNotRecordedAsDecided) {
  options_.timer = model::Timer::kEvents;
  sweep();
  EXPECT_EQ(record().timer, "");
  for (const auto& [id, timers] : bench_->timers) EXPECT_EQ(timers, std::set<std::string>{"events"}) << id;
}

}  // namespace
}  // namespace ktune::sweep
