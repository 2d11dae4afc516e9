#include "sweep/loop.h"

#include <gtest/gtest.h>

#include "sweep/default_first.h"
#include "sweep/scripted_test.h"

namespace ktune::sweep {
namespace {

using model::Outcome;
using Counts = std::map<Outcome, std::int64_t>;

TEST_F(ScriptedSweep, EveryVariantIsMeasuredOnceAndTheFastestWins) {
  const Summary summary = sweep();
  EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, 6}}));
  EXPECT_EQ(record().rejected, (std::map<std::string, std::int64_t>{{"too many", 1}}));
  EXPECT_EQ(record().not_visited, 0);
  EXPECT_EQ(summary.trials, 6);
  EXPECT_FALSE(summary.out_of_budget);
  EXPECT_EQ(winner(), 0);
  EXPECT_EQ(stage_.count("problem"), 1);
  EXPECT_EQ(bench_->loaded(), 0U) << "nothing stays on the bench";
}

TEST_F(ScriptedSweep, TheDefaultIsMeasuredFirstWhateverTheStrategySaysAndCompilesSooner) {
  for (const char* strategy : {"exhaustive", "reverse", "random"}) {
    options_.strategy = strategy;
    options_.reuse = false;
    sweep();
    EXPECT_EQ(loads().front(), 3) << strategy;
    EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, 6}})) << strategy;
  }
}

TEST_F(ScriptedSweep, AVariantThatFailsInAnyVerbCostsItselfAlone) {
  for (const char* verb : {"compile", "load", "verify", "measure", "measure 2"})
    for (const Outcome outcome : {Outcome::kCrashed, Outcome::kTimedOut, Outcome::kLaunchFailed, Outcome::kWrongResult,
                                  Outcome::kRejected, Outcome::kCompileFailed}) {
      options_.reuse = false;
      stage_.variants[1].fails_at = verb;
      stage_.variants[1].outcome = outcome;
      const Summary summary = sweep();
      EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, 5}, {outcome, 1}})) << verb << " " << name_of(outcome);
      EXPECT_EQ(winner(), 0) << verb << " " << name_of(outcome);
      EXPECT_EQ(summary.trials, std::string(verb) == "compile" ? 5 : 6) << verb;
      EXPECT_EQ(trial_of(1)->outcome, outcome);
      EXPECT_FALSE(trial_of(1)->reason.empty());
    }
}

TEST_F(ScriptedSweep, AVariantThatTookTheWorkerDownCostsTheOthersNothing) {
  stage_.variants[1].fails_at = "measure 2";
  sweep();
  EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, 5}, {Outcome::kCrashed, 1}}));
  EXPECT_GE(stage_.count("load 0"), 2) << "lost with the worker, loaded and verified again";
  EXPECT_EQ(trial_of(0)->samples.time_us.size(), 58U) << "the samples from before the crash count";
}

TEST_F(ScriptedSweep, WithoutAReferenceNothingIsTriedAndTheProblemSaysWhy) {
  for (const char* verb : {"compile", "problem"}) {
    stage_.reference.fails_at = verb;
    const Summary summary = sweep();
    ASSERT_EQ(summary.failed_problems.size(), 1U);
    EXPECT_EQ(summary.failed_problems[0], std::string(verb) == "compile"
                                              ? "scale N=1000: the reference did not compile: does not compile\nlog"
                                              : "scale N=1000: the reference could not be computed: dies\nstack");
    EXPECT_EQ(record().not_visited, 6);
    EXPECT_EQ(winner(), -1);
    EXPECT_EQ(summary.trials, 0);
  }
}

TEST_F(ScriptedSweep, WhereNothingCanBeMeasuredThereIsNoWinner) {
  for (auto& [id, script] : stage_.variants) script.fails_at = "verify", script.outcome = Outcome::kWrongResult;
  const Summary summary = sweep();
  EXPECT_EQ(outcomes(), (Counts{{Outcome::kWrongResult, 6}}));
  EXPECT_EQ(winner(), -1);
  EXPECT_TRUE(summary.failed_problems.empty());
}

/// Does `what` at each verb of a sweep in turn, every time in a new session.
class AtEveryVerb : public ScriptedSweep {
 protected:
  void SetUp() override {
    options_.reuse = false;
    options_.timer = {};
    stage_.variants[1].fails_at = "measure 2";
    sweep();
    verbs_ = stage_.verbs.size();
    ASSERT_GT(verbs_, 100U);
  }
  void at(std::size_t verb, const std::function<void()>& what) {
    stage_.each = [this, verb, what](const std::string&) {
      if (stage_.verbs.size() == verb) what();
    };
  }
  std::size_t verbs_ = 0;
};

TEST_F(AtEveryVerb, AnInterruptKeepsWhatIsDone) {
  std::int64_t kept = 0;
  for (std::size_t verb = 1; verb <= verbs_; ++verb) {
    stage_.interrupted = false;
    at(verb, [this] { stage_.interrupted = true; });
    const Summary summary = sweep();
    EXPECT_TRUE(summary.interrupted) << verb;
    EXPECT_LE(stage_.verbs.size(), verb + 16) << "what is in the heat is unloaded or dropped, not gone on with";
    EXPECT_GE(6 - record().not_visited, kept) << verb;
    kept = 6 - record().not_visited;
  }
  EXPECT_EQ(kept, 6);
}

TEST_F(AtEveryVerb, AnInterruptThatEndsTheVerbKeepsWhatIsDone) {
  for (std::size_t verb = 1; verb <= verbs_; ++verb) {
    stage_.interrupted = false;
    at(verb, [this] {
      stage_.interrupted = true;
      throw Error(ErrorKind::kInterrupted, "interrupted");
    });
    EXPECT_TRUE(sweep().interrupted) << verb;
    EXPECT_EQ(stage_.verbs.size(), verb);
  }
}

TEST_F(AtEveryVerb, ALostDeviceEndsTheSweepAndKeepsWhatIsDone) {
  for (std::size_t verb = 1; verb <= verbs_; ++verb) {
    at(verb, [] { throw Error(ErrorKind::kEnvironment, "lost"); });
    EXPECT_THROW(sweep(), Error) << verb;
    EXPECT_EQ(stage_.verbs.size(), verb);
  }
}

TEST_F(ScriptedSweep, AProblemAfterALostDeviceIsRecordedAsNotVisited) {
  set_up(6, 3, {1000, 2000});
  stage_.each = [](const std::string& verb) {
    if (verb == "load 3") throw Error(ErrorKind::kEnvironment, "lost");
  };
  EXPECT_THROW(sweep(), Error);
  ASSERT_EQ(ledger_.problems.size(), 2U);
  EXPECT_EQ(record(1).problem.text(), "N=2000");
  EXPECT_EQ(record(1).not_visited, 6);
}

TEST(TheOrder, HasTheDefaultFirstAndOnceWhetherOrNotTheStrategyNamesIt) {
  const auto order_of = [](std::vector<search::VariantId> named) {
    DefaultFirst strategy(std::make_unique<GivenOrder>(std::move(named)), 3);
    std::vector<search::VariantId> order;
    while (const auto id = strategy.next()) order.push_back(*id);
    EXPECT_FALSE(strategy.next().has_value());
    return order;
  };
  using Order = std::vector<search::VariantId>;
  EXPECT_EQ(order_of({0, 1, 2}), (Order{3, 0, 1, 2}));
  EXPECT_EQ(order_of({0, 3, 2}), (Order{3, 0, 2}));
  EXPECT_EQ(order_of({0, 1, 3}), (Order{3, 0, 1}));
  EXPECT_EQ(order_of({3}), (Order{3}));
  EXPECT_EQ(order_of({}), (Order{3}));
}

TEST_F(ScriptedSweep, TheStrategyIsToldOfEveryVariantOnceAndOfTheDefaultWhetherOrNotItNamedIt) {
  options_.reuse = false;
  stage_.variants[2].fails_at = "compile";
  stage_.variants[2].outcome = Outcome::kCompileFailed;
  for (const std::vector<search::VariantId>& order : {std::vector<search::VariantId>{0, 2}, {0, 3, 2}}) {
    GivenOrder::Told told;
    const ProblemResult result = explore(std::make_unique<GivenOrder>(order, &told));
    std::sort(told.begin(), told.end());
    EXPECT_EQ(told, (GivenOrder::Told{{0, Outcome::kMeasured}, {2, Outcome::kCompileFailed}, {3, Outcome::kMeasured}}));
    EXPECT_EQ(result.record.not_visited, 3) << "what the strategy did not name";
    EXPECT_EQ(winner(), 0);
  }
  options_.reuse = true;
  GivenOrder::Told told;
  explore(std::make_unique<GivenOrder>(std::vector<search::VariantId>{0}, &told));
  EXPECT_EQ(told, (GivenOrder::Told{{3, Outcome::kMeasured}, {0, Outcome::kMeasured}})) << "of what is re-used too";
}

TEST_F(ScriptedSweep, AStrategyThatWaitsForAnAnswerIsAskedAgain) {
  /// Names the next variant only when it has heard of the one before.
  class Patient : public search::Strategy {
   public:
    std::optional<search::VariantId> next() override {
      return at_ < heard_ && at_ < 4 ? std::optional(at_++) : std::nullopt;
    }
    void tell(search::VariantId, Outcome, double) override { ++heard_; }

   private:
    search::VariantId at_ = 0, heard_ = 0;
  };
  explore(std::make_unique<Patient>());
  EXPECT_EQ(outcomes(), (Counts{{Outcome::kMeasured, 4}})) << "0, 1, 2 and the default";
}

}  // namespace
}  // namespace ktune::sweep
