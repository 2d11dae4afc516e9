#include "gate/paired_gate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "gate/scripted_for_test.h"
#include "store/store.h"

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
    unkept_.reset();
    return run_paired_gate(options_, facts_, unkept_);
  }

  /// An A/A gate of base.
  verdict::Result run_against_itself() {
    options_.self = true;
    options_.candidate.clear();
    options_.database = "noise.db";
    return run();
  }

  /// Identical code of N = 1000, but for what the test changes.
  bool is_identical() {
    script_.key = {{"base:1000", "same"}, {"new:1000", "same"}};
    return row_of(run(), "N=1000").identical;
  }

  /// "ABBA…": the sides in the order in which they were timed, of the calls from `first` on.
  std::string order_of_sides(std::size_t first) const {
    std::string order;
    for (const std::string& call : script_.asked)
      if (call.starts_with("time")) order += call.starts_with("time base") ? 'A' : 'B';
    return order.substr(first);
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
  std::optional<Error> unkept_;
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
  const std::string order = order_of_sides(0);
  EXPECT_TRUE(order == "ABBABAABABBABAAB" || order == "BAABABBABAABABBA") << order;
}

TEST_F(PairedRun, DrawsTheOrderOfTheSecondRoundAnew) {
  shift(5.0, 5.0);
  bool differs = false;
  for (options_.seed = 1; options_.seed <= 8 && !differs; ++options_.seed) {
    script_.asked.clear();
    script_.processes = 0;
    run();
    ASSERT_EQ(order_of_sides(0).size(), kBothRounds);
    differs = order_of_sides(0).substr(0, kFirstRound) != order_of_sides(kFirstRound);
  }
  EXPECT_TRUE(differs);
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
  EXPECT_EQ(row_of(result, "N=1000").verdict, Verdict::kPass) << "all pairs together know it well enough";
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

TEST_F(PairedRun, FindsCodeIdenticalOnlyIfEverythingAroundItIs) {
  EXPECT_TRUE(is_identical());
  script_.own_reference = {"new:1000"};
  EXPECT_FALSE(is_identical()) << "another reference";
  script_.own_reference.clear();
  script_.own_launch = {"new:1000"};
  EXPECT_FALSE(is_identical()) << "launched in another way";
}

TEST_F(PairedRun, TimesIdenticalCodeOnOtherInputsAndSaysSo) {
  write_spec("new", "role = \"in\"", "role = \"in\"\ninit = \"uniform(-1, 2)\"");
  EXPECT_FALSE(is_identical());
  const std::string note = "inputs, sizes or tolerances of scale are not the same on both sides";
  const std::vector<std::string> notes = run().notes;
  EXPECT_NE(std::find(notes.begin(), notes.end(), note), notes.end());
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
  const verdict::Result result = run_against_itself();
  EXPECT_EQ(result.mode, verdict::Mode::kSelf);
  EXPECT_TRUE(result.pass_inconclusive);
  EXPECT_EQ(script_.count("time base:1000 base:2000"), kFirstRound) << "the same code is timed here";
  EXPECT_EQ(result.notes.back(),
            "stored in the database: later gates of this device call no shift that its noise makes");
  for (const std::string& note : result.notes) EXPECT_FALSE(note.starts_with("no A/A run")) << "this is one";
  EXPECT_FALSE(unkept_.has_value());
  options_.self = false;
  options_.candidate = "new.toml";
  const verdict::Result later = run();
  EXPECT_TRUE(later.notes.back().starts_with("by the A/A run of " + result.date.substr(0, 10) + " a process varies"))
      << later.notes.back();
  EXPECT_FALSE(later.pass_inconclusive);
}

TEST_F(PairedRun, OfItselfKeepsTheNoiseOfMoreKernels) {
  shift(0.0, 0.0);
  run_against_itself();
  options_.selection.shapes = {"1000"};
  EXPECT_EQ(run_against_itself().notes.back(), "not stored: the A/A run of before was of 2 kernels, this of 1");
}

TEST_F(PairedRun, OfItselfKeepsNothingWhereNothingWasTimed) {
  script_.dies_in = {{"base:1000", 0}, {"base:2000", 0}};
  run_against_itself();
  EXPECT_FALSE(std::filesystem::exists(options_.database));
}

TEST_F(PairedRun, OfItselfShowsWhatItCannotKeep) {
  std::filesystem::create_symlink("nowhere/noise.db", "noise.db");
  const verdict::Result result = run_against_itself();
  ASSERT_TRUE(unkept_.has_value());
  EXPECT_EQ(result.notes.back(), "not stored: " + unkept_->message());
  EXPECT_EQ(result.rows.size(), 2U);
}

TEST_F(PairedRun, DoesNotCallWhatTheStoredNoiseMakes) {
  shift(5.0, 5.0);
  options_.database = "noise.db";
  const auto store_noise = [&](const std::string& cache_state) {
    store::Store(options_.database, store::Store::Mode::kWrite)
        .add_noise({facts_.name, facts_.driver, facts_.power_limit_w, cache_state, 0.0, 0.05, 12, 8, "2026-11-29", ""});
  };
  store_noise("dirty");
  EXPECT_EQ(row_of(run(), "N=1000").verdict, Verdict::kRegressed) << "noise in another state of the cache";
  store_noise("cold");
  script_.processes = 0;
  EXPECT_EQ(row_of(run(), "N=1000").verdict, Verdict::kInconclusive);
}

TEST_F(PairedRun, EndsWhereTheDatabaseCannotBeRead) {
  options_.database = ".";
  try {
    run();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
  }
}

}  // namespace
}  // namespace ktune::gate
