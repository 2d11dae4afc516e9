#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "verdict/baselines_for_test.h"
#include "verdict/stored.h"

namespace ktune::verdict {
namespace {

constexpr int kProtocol = 2;

/// A run over a baseline's kernels, at these verdicts and ratios.
Result run_of(const std::vector<std::pair<Verdict, double>>& rows, const Baseline& baseline = baseline_for_test()) {
  Result run;
  run.baseline_checksum = checksum_of(baseline);
  run.mode = Mode::kStored;
  run.date = "2026-11-30T00:00:00Z";
  run.candidate_commit = "of the current directory";
  run.device.name = "Fake H200";
  run.device.sm_count = 132;
  run.device.l2_bytes = 62914560;
  run.device.bus_bits = 6016;
  run.device.ecc = 1;
  run.device.mig = 0;
  run.device.power_limit_w = 700.0;
  run.device.driver = "580.159.04";
  run.device.toolkit = "NVRTC 13.0";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Row& row = run.rows.emplace_back();
    row.op = baseline.kernels[i].op;
    row.problem = baseline.kernels[i].problem.text();
    row.base_variant = row.candidate_variant = baseline.kernels[i].variant;
    row.cache_state = "cold";
    row.tree_commit = "def";
    row.verdict = rows[i].first;
    for (const ControlledFigure& process : processes_for_test(20.0, rows[i].second)) {
      row.candidate_figures_us.push_back(process.kernel.time_us);
      row.base_figures_us.push_back(process.control.time_us);
    }
  }
  run.verdict = overall(run.rows);
  return run;
}

std::vector<std::size_t> runs(const Baseline& baseline) {
  std::vector<std::size_t> counts;
  for (const BaselineKernel& kernel : baseline.kernels) counts.push_back(kernel.history.size());
  return counts;
}

/// "kind: message" of the error, with the exit code for the kind.
std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return std::to_string(exit_code(error.kind())) + ": " + error.message();
  }
  return {};
}

using Counts = std::vector<std::size_t>;

TEST(BaselineAppend, TakesAPassingRun) {
  Baseline baseline = baseline_for_test();
  const auto changes = append_run(baseline, run_of({{Verdict::kPass, 1.26}, {Verdict::kPass, 1.0}}));
  EXPECT_EQ(runs(baseline), (Counts{2, 3}));
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].kernel, "scale N=1000 f32 [num_warps=4]");
  EXPECT_EQ(changes[0].what, "run 2 of its history");
  EXPECT_FALSE(changes[0].moved);
  const HistoryEntry& added = baseline.kernels[0].history.back();
  EXPECT_NEAR(added.ratio, 1.26, 1e-4);
  EXPECT_EQ(added.date, "2026-11-30T00:00:00Z");
  EXPECT_EQ(added.commit, "def");
  EXPECT_EQ(added.processes, 9);
}

TEST(BaselineAppend, StartsANewHistoryForWhatImproved) {
  // Six nights at 5 µs, then at 4: appended they would be one history whose limit no regression reaches.
  Baseline baseline = baseline_for_test();
  baseline.kernels[0].history.assign(6, entry_for_test(0.5));
  for (int night = 0; night < 6; ++night) {
    const Verdict verdict = night == 0 ? Verdict::kImproved : Verdict::kPass;
    const auto changes = append_run(baseline, run_of({{verdict, 0.4}, {Verdict::kPass, 1.0}}, baseline));
    EXPECT_EQ(changes.at(0).moved, night == 0);
    EXPECT_EQ(changes.at(0).what, night == 0 ? "new level: 0.400 of its control (was 0.500), its history begins anew"
                                             : "run " + std::to_string(night + 1) + " of its history");
  }
  EXPECT_EQ(runs(baseline), (Counts{6, 8}));
  const Level level = level_of(baseline.kernels[0], StoredRules{});
  EXPECT_NEAR(level.ratio, 0.4, 1e-4);
  EXPECT_DOUBLE_EQ(level.limit_pct, 5.0);
}

TEST(BaselineAppend, RefusesARunOfAnotherState) {
  Baseline baseline = baseline_for_test();
  const Result run = run_of({{Verdict::kPass, 1.26}});
  baseline.kernels[1].history.pop_back();
  EXPECT_EQ(error_of([&] { append_run(baseline, run); }),
            "2: the run was judged against another state of the baseline");
}

TEST(BaselineAppend, TakesNothingOfAFailingRun) {
  for (const Verdict verdict :
       {Verdict::kRegressed, Verdict::kWrong, Verdict::kEnvironment, Verdict::kNoData, Verdict::kInconclusive}) {
    Baseline baseline = baseline_for_test();
    EXPECT_TRUE(append_run(baseline, run_of({{Verdict::kPass, 1.25}, {verdict, 1.0}})).empty()) << name_of(verdict);
    EXPECT_EQ(runs(baseline), (Counts{1, 2})) << name_of(verdict);
  }
}

TEST(BaselineAppend, LeavesOutWhatWasLetByUndecided) {
  Baseline baseline = baseline_for_test();
  Result run = run_of({{Verdict::kPass, 1.25}, {Verdict::kInconclusive, 1.0}});
  run.pass_inconclusive = true;
  EXPECT_EQ(append_run(baseline, run).size(), 1U);
  EXPECT_EQ(runs(baseline), (Counts{2, 2}));
}

TEST(BaselineAppend, ForgetsTheOldestSessions) {
  Baseline baseline = baseline_for_test();
  baseline.kernels[0].history.assign(kKeptEntries, entry_for_test(1.25));
  baseline.kernels[0].history[1].date = "second";
  append_run(baseline, run_of({{Verdict::kPass, 1.25}, {Verdict::kPass, 1.0}}, baseline));
  EXPECT_EQ(baseline.kernels[0].history.size(), kKeptEntries);
  EXPECT_EQ(baseline.kernels[0].history.front().date, "second");
}

TEST(BaselineAccept, StartsANewHistoryForWhatMoved) {
  for (const Verdict verdict : {Verdict::kRegressed, Verdict::kImproved, Verdict::kEnvironment}) {
    Baseline baseline = baseline_for_test();
    baseline.kernels[1].code_hash = "old";
    const Result run = run_of({{Verdict::kPass, 1.25}, {verdict, 1.2}}, baseline);
    const auto changes = accept_run(baseline, run, kProtocol, false);
    EXPECT_EQ(runs(baseline), (Counts{2, 1})) << name_of(verdict);
    EXPECT_NEAR(baseline.kernels[1].history[0].ratio, 1.2, 1e-4);
    EXPECT_EQ(baseline.kernels[1].code_hash, "");
    EXPECT_EQ(changes[1].what, "new level: 1.200 of its control (was 1.010), its history begins anew");
    EXPECT_TRUE(changes[1].moved);
  }
}

TEST(BaselineAccept, AppendsWhatCouldNotBeDecided) {
  Baseline baseline = baseline_for_test();
  accept_run(baseline, run_of({{Verdict::kPass, 1.25}, {Verdict::kInconclusive, 1.02}}), kProtocol, false);
  EXPECT_EQ(runs(baseline), (Counts{2, 3}));
}

TEST(BaselineAccept, NeverTakesWhatIsWrongOrWasNotTimed) {
  Baseline baseline = baseline_for_test();
  Result run = run_of({{Verdict::kPass, 1.25}, {Verdict::kWrong, 1.2}});
  run.rows[1].reason = "WrongResult: y differs";
  const auto changes = accept_run(baseline, run, kProtocol, true);
  EXPECT_EQ(runs(baseline), (Counts{2, 2}));
  EXPECT_EQ(changes[1].what, "stays as it was: WRONG, WrongResult: y differs");
  EXPECT_FALSE(changes[1].taken);
  run.rows.erase(run.rows.begin());
  run.baseline_checksum = checksum_of(baseline);
  EXPECT_EQ(error_of([&] { accept_run(baseline, run, kProtocol, true); }),
            "4: the run has nothing that the baseline could take");
}

TEST(BaselineAccept, DropsMissingKernelsWhenAsked) {
  Baseline baseline = baseline_for_test();
  Result run = run_of({{Verdict::kNoData, 1.25}, {Verdict::kNoData, 1.0}});
  run.rows[0].candidate_variant.clear();  // gone; the other one is there and was not timed
  EXPECT_EQ(error_of([&] { accept_run(baseline, run, kProtocol, false); }),
            "4: the run has nothing that the baseline could take");
  accept_run(baseline, run, kProtocol, true);
  ASSERT_EQ(baseline.kernels.size(), 1U);
  EXPECT_EQ(baseline.kernels[0].problem.text(), "N=2000 f32");
}

TEST(BaselineAccept, RefusesOtherRuns) {
  Baseline baseline = baseline_for_test();
  Result run = run_of({{Verdict::kPass, 1.25}});
  run.mode = Mode::kPaired;
  EXPECT_EQ(error_of([&] { accept_run(baseline, run, kProtocol, false); }),
            "2: the run is a paired gate's, not a stored one's");
  run.mode = Mode::kStored;
  EXPECT_EQ(error_of([&] { accept_run(baseline, run, kProtocol + 1, false); }),
            "4: the run is not comparable with the baseline: measurement protocol: 2 in the baseline, 3 here");
  run.device.driver = "590.1";
  EXPECT_EQ(error_of([&] { accept_run(baseline, run, kProtocol, false); }),
            "4: the run is not comparable with the baseline: driver: 580.159.04 in the baseline, 590.1 here");
  run.device.driver = "580.159.04";
  run.rows[0].cache_state = "warm";
  EXPECT_EQ(error_of([&] { accept_run(baseline, run, kProtocol, false); }),
            "4: the run is not comparable with the baseline: cache state: cold in the baseline, warm here");
  run.rows[0].cache_state = "cold";
  run.rows[0].timer = "graph";
  EXPECT_EQ(error_of([&] { accept_run(baseline, run, kProtocol, false); }),
            "4: the run is not comparable with the baseline: timer: events in the baseline (scale N=1000 f32 "
            "[num_warps=4]), graph here");
  run.rows.clear();
  run.device.sm_count = 114;
  EXPECT_EQ(error_of([&] { accept_run(baseline, run, kProtocol, false); }),
            "4: the run is not comparable with the baseline: SM count: 132 in the baseline, 114 here");
  EXPECT_EQ(runs(baseline), (Counts{1, 2}));
}

TEST(BaselineAccept, TakesARunOnce) {
  Baseline baseline = baseline_for_test();
  const Result run = run_of({{Verdict::kPass, 1.25}, {Verdict::kRegressed, 1.2}});
  accept_run(baseline, run, kProtocol, false);
  EXPECT_EQ(error_of([&] { accept_run(baseline, run, kProtocol, false); }),
            "2: the baseline took this run already: scale N=1000 f32 [num_warps=4] has a run of "
            "2026-11-30T00:00:00Z");
  EXPECT_EQ(runs(baseline), (Counts{2, 1}));
}

TEST(BaselineAccept, RefusesARunOfAnotherState) {
  Baseline baseline = baseline_for_test();
  const Result before = run_of({{Verdict::kPass, 1.25}, {Verdict::kRegressed, 1.2}});
  baseline.kernels[1].history = {entry_for_test(1.2)};
  EXPECT_EQ(error_of([&] { accept_run(baseline, before, kProtocol, false); }),
            "2: the run was judged against another state of the baseline");
  Result old = run_of({{Verdict::kPass, 1.25}}, baseline);
  old.baseline_checksum.clear();
  EXPECT_EQ(error_of([&] { accept_run(baseline, old, kProtocol, false); }),
            "2: the run was judged against another state of the baseline");
  EXPECT_EQ(runs(baseline), (Counts{1, 1}));
}

TEST(BaselineAccept, TakesNoFiguresThatDoNotPairUp) {
  Baseline baseline = baseline_for_test();
  Result run = run_of({{Verdict::kRegressed, 1.5}});
  run.rows[0].base_figures_us.pop_back();
  EXPECT_EQ(error_of([&] { accept_run(baseline, run, kProtocol, false); }),
            "4: the run has nothing that the baseline could take");
  run = run_of({{Verdict::kRegressed, 1.5}});
  for (double& figure : run.rows[0].base_figures_us) figure = -figure;
  EXPECT_EQ(error_of([&] { accept_run(baseline, run, kProtocol, false); }),
            "4: the run has nothing that the baseline could take");
  EXPECT_NEAR(baseline.kernels[0].history.back().ratio, 1.25, 1e-9);
}

}  // namespace
}  // namespace ktune::verdict
