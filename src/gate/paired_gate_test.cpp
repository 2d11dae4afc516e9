#include "gate/paired_gate.h"

#include <gtest/gtest.h>

#include "gate/scripted_for_test.h"

namespace ktune::gate {
namespace {

using verdict::Verdict;

constexpr int kPairs = 8;                // a round
constexpr int kFirstRound = 2 * kPairs;  // processes
constexpr int kBothRounds = 2 * kFirstRound;

class PairedRun : public ScriptedGate {
 protected:
  PairedRun() {
    write_spec("base");
    write_spec("new");
    options_.base = "base.toml";
    options_.candidate = "new.toml";
    options_.database = "none.db";
    options_.selection.shapes = {"1000", "2000"};
    options_.open_processes = open_script();
  }

  verdict::Result run() {
    std::optional<Error> unkept;
    return run_paired_gate(options_, facts_, unkept);
  }

  /// Of kernel new:1000, in percent of base's: one shift a round. Everything else stands still.
  void shift(double first_pct, double second_pct, double noise_pct = 0.05) {
    script_.time_us = [=](const std::string& kernel, int process) {
      const double pct = process < kFirstRound ? first_pct : second_pct;
      return 20.0 * wobble(process, noise_pct) * (kernel == "new:1000" ? 1.0 + pct / 100.0 : 1.0);
    };
  }

  static const verdict::Row& row_of(const verdict::Result& result, const std::string& problem) {
    for (const verdict::Row& row : result.rows)
      if (row.problem == problem) return row;
    ADD_FAILURE() << "no row of " << problem;
    return result.rows.front();
  }

  PairedGateOptions options_;
};

TEST_F(PairedRun, PassesWhatStandsStillAfterOneRound) {
  shift(0.0, 0.0);
  const verdict::Result result = run();
  EXPECT_EQ(result.verdict, Verdict::kPass);
  EXPECT_EQ(script_.asked[0], "compile base:1000 new:1000 base:2000 new:2000");
  EXPECT_EQ(script_.asked[1], "decide base:1000 base:2000");
  EXPECT_EQ(script_.count("time base:1000 base:2000"), kPairs);
  EXPECT_EQ(script_.count("time new:1000 new:2000"), kPairs);
  EXPECT_EQ(script_.processes, kFirstRound);
}

TEST_F(PairedRun, TakesTheSidesInTheOrderThatCancelsADrift) {
  shift(0.0, 0.0);
  run();
  std::string order;
  for (const std::string& call : script_.asked)
    if (call.starts_with("time")) order += call.starts_with("time base") ? 'A' : 'B';
  EXPECT_TRUE(order == "ABBABAABABBABAAB" || order == "BAABABBABAABABBA") << order;
}

TEST_F(PairedRun, CallsASuspectThatFreshProcessesConfirm) {
  shift(5.0, 5.0);
  const verdict::Result result = run();
  EXPECT_EQ(result.verdict, Verdict::kRegressed);
  const verdict::Row& row = row_of(result, "N=1000");
  EXPECT_EQ(row.verdict, Verdict::kRegressed);
  EXPECT_TRUE(row.confirmed);
  EXPECT_NEAR(row.shift_pct, 5.0, 0.2);
  EXPECT_EQ(row_of(result, "N=2000").verdict, Verdict::kPass);
  EXPECT_EQ(script_.count("time new:1000"), kPairs) << "only the suspect is timed once more";
  EXPECT_EQ(script_.processes, kBothRounds);
}

TEST_F(PairedRun, DoesNotCallASuspectThatFreshProcessesDoNotConfirm) {
  shift(5.0, 0.0);
  const verdict::Result result = run();
  EXPECT_EQ(row_of(result, "N=1000").verdict, Verdict::kInconclusive);
  EXPECT_EQ(script_.processes, kBothRounds);
}

TEST_F(PairedRun, CallsWhatGotFasterInTheSameWay) {
  shift(-5.0, -5.0);
  EXPECT_EQ(row_of(run(), "N=1000").verdict, Verdict::kImproved);
}

TEST_F(PairedRun, TimesOnceMoreWhatTheFirstRoundLeavesOpen) {
  script_.time_us = [](const std::string& kernel, int process) {
    return 20.0 * (process < kFirstRound && kernel == "new:1000" ? wobble(process / 2, 4.0) : wobble(process, 0.05));
  };
  const verdict::Result result = run();
  EXPECT_EQ(script_.count("time base:1000"), kPairs);
  EXPECT_NE(row_of(result, "N=1000").verdict, Verdict::kRegressed) << "what was no suspect at first is never called";
}

TEST_F(PairedRun, VerifiesIdenticalCodeAndTimesItNot) {
  script_.key = {{"base:1000", "same"}, {"new:1000", "same"}};
  const verdict::Result result = run();
  EXPECT_TRUE(row_of(result, "N=1000").identical);
  EXPECT_EQ(row_of(result, "N=1000").verdict, Verdict::kPass);
  EXPECT_EQ(script_.count("verify new:1000"), 1);
  EXPECT_EQ(script_.count("time base:2000"), kPairs);
}

TEST_F(PairedRun, TimesIdenticalCodeWhereItIsAsked) {
  script_.key = {{"base:1000", "same"}, {"new:1000", "same"}};
  options_.time_identical = true;
  EXPECT_FALSE(row_of(run(), "N=1000").identical);
  EXPECT_EQ(script_.count("time base:1000 base:2000"), kPairs);
}

TEST_F(PairedRun, FindsIdenticalCodeWrong) {
  script_.key = {{"base:1000", "same"}, {"new:1000", "same"}};
  script_.verify_fails["new:1000"] = {model::Outcome::kWrongResult, "y[3] is 0", ""};
  EXPECT_EQ(row_of(run(), "N=1000").verdict, Verdict::kWrong);
}

TEST_F(PairedRun, SaysWhichSideLacksAKernel) {
  write_spec("base", "{ N = 1000 }", "{ N = 500 }");
  options_.selection.shapes.clear();
  const verdict::Result result = run();
  const verdict::Row &gone = row_of(result, "N=500"), &added = row_of(result, "N=1000");
  EXPECT_EQ(gone.verdict, Verdict::kNoData);
  EXPECT_TRUE(gone.blocks);
  EXPECT_EQ(added.verdict, Verdict::kNoData);
  EXPECT_FALSE(added.blocks);
  EXPECT_EQ(script_.count("verify new:1000"), 1) << "what is new may be wrong";
  EXPECT_EQ(script_.processes, 0);
}

TEST_F(PairedRun, VerifiesTheCandidateOfABrokenBase) {
  script_.compile_fails["base:1000"] = {model::Outcome::kCompileFailed, "no such file", ""};
  verdict::Result result = run();
  EXPECT_EQ(row_of(result, "N=1000").verdict, Verdict::kNoData);
  EXPECT_EQ(script_.count("verify new:1000"), 1);
  EXPECT_EQ(script_.count("time base:2000"), kPairs);
  script_.verify_fails["new:1000"] = {model::Outcome::kWrongResult, "y[3] is 0", ""};
  EXPECT_EQ(row_of(run(), "N=1000").verdict, Verdict::kWrong);
}

TEST_F(PairedRun, FindsACandidateWrongThatDoesNotCompile) {
  script_.compile_fails["new:1000"] = {model::Outcome::kCompileFailed, "expected ';'", ""};
  const verdict::Row row = row_of(run(), "N=1000");
  EXPECT_EQ(row.verdict, Verdict::kWrong);
  EXPECT_NE(row.reason.find("expected ';'"), std::string::npos) << row.reason;
}

TEST_F(PairedRun, LeavesOutWhatDiesFromThereOn) {
  shift(0.0, 0.0);
  script_.dies_in["new:1000"] = 6;
  const verdict::Result result = run();
  EXPECT_EQ(row_of(result, "N=1000").verdict, Verdict::kWrong);
  EXPECT_EQ(row_of(result, "N=2000").verdict, Verdict::kPass);
  EXPECT_EQ(script_.count("time base:2000"), kPairs - 4) << "the fourth pair was its last";
}

TEST_F(PairedRun, DoesNotTimeWhatNoTimerServes) {
  script_.timer_fails["base:1000"] = {model::Outcome::kTimedOut, "no timer", ""};
  EXPECT_EQ(row_of(run(), "N=1000").verdict, Verdict::kNoData);
  EXPECT_EQ(script_.count("time base:2000"), kPairs);
}

TEST_F(PairedRun, OfItselfCallsNothingAndKeepsItsNoise) {
  shift(0.0, 0.0);
  options_.self = true;
  options_.candidate.clear();
  options_.database = "noise.db";
  const verdict::Result result = run();
  EXPECT_EQ(result.mode, verdict::Mode::kSelf);
  EXPECT_EQ(script_.count("time base:1000 base:2000"), kFirstRound) << "the same code is timed here";
  EXPECT_EQ(result.notes.back(),
            "stored in the database: later gates of this device call no shift that its noise makes");
}

}  // namespace
}  // namespace ktune::gate
