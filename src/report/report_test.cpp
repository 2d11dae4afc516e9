#include "report/report.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "report/fixture.h"

namespace ktune::report {
namespace {

using model::Outcome;
using Texts = std::vector<std::string>;

TEST(MakeReport, TheWinnerIsTheFinalistWithTheLowestSecondTime) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z");
  builder.problem("rmsnorm", 4096, 60, 40);
  builder.trial(variant_of(1024, 4), 30.0);
  builder.trial(variant_of(512, 4), 10.0);
  builder.trial(variant_of(2048, 4), 11.0);
  builder.trial(variant_of(256, 4), 5.0);  // the fastest at first, but no finalist
  builder.trial(variant_of(512, 4), 14.0, true);
  builder.trial(variant_of(2048, 4), 12.5, true);
  builder.trial(variant_of(1024, 4), 25.0, true);
  builder.account();
  const Report report = make_report(builder.dataset, false);
  ASSERT_EQ(report.rows.size(), 1U);
  const Row& row = report.rows[0];
  EXPECT_EQ(row.variant, variant_of(2048, 4));
  EXPECT_EQ(row.trial, 6);
  EXPECT_EQ(*row.time_us, 12.5);
  EXPECT_EQ(*row.default_time_us, 25.0);
  EXPECT_EQ(*row.speedup_vs_default, 2.0);
  EXPECT_EQ(row.measured, 4);
  EXPECT_EQ(row.warnings, Texts{});
}

TEST(MakeReport, WithoutFinalsTheFastestTrialWinsAndSaysThatItWasChosenByThatTime) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z");
  builder.problem("rmsnorm", 4096, 60, 40);
  builder.trial(variant_of(1024), 30.0);
  builder.trial(variant_of(512), 10.0);
  builder.trial(variant_of(256), 10.0);
  builder.account();
  const Row row = make_report(builder.dataset, false).rows.at(0);
  EXPECT_EQ(row.trial, 2);
  EXPECT_EQ(*row.default_time_us, 30.0);
  EXPECT_EQ(row.warnings, Texts{"not timed again: this time took part in choosing the winner, so it flatters it"});
}

TEST(MakeReport, AFinalThatFailedIsNoWinnerAndALaterSecondTimeReplacesAnEarlier) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z");
  builder.problem("rmsnorm", 4096, 60, 40);
  builder.trial(variant_of(1024), 30.0);
  builder.trial(variant_of(512), 10.0);
  builder.failure(variant_of(512), Outcome::kCrashed, "gone").is_final = true;
  builder.trial(variant_of(1024), 20.0, true);
  builder.trial(variant_of(1024), 22.0, true);
  builder.account();
  const Row row = make_report(builder.dataset, false).rows.at(0);
  EXPECT_EQ(row.trial, 5);
  EXPECT_EQ(*row.time_us, 22.0);
  EXPECT_EQ(*row.default_time_us, 22.0);
}

TEST(MakeReport, FillsEveryColumnFromTheRecords) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z").device.l2_bytes = 10;
  model::ProblemRecord& problem = builder.problem("rmsnorm", 4096, 60000, 36000);
  problem.rejected = {{"too small", 5}, {"too big", 2}};
  problem.not_visited = 3;
  problem.reused = 1;
  builder.trial(variant_of(1024), 40.0).warnings = {"clock moved"};
  builder.failure(variant_of(1), Outcome::kRejected, "needs 300 KiB");
  builder.failure(variant_of(2), Outcome::kWrongResult, "wrong");
  builder.failure(variant_of(3), Outcome::kWrongResult, "wrong");
  builder.failure(variant_of(4), Outcome::kTimedOut, "late");
  builder.account();
  const Row row = make_report(builder.dataset, false).rows.at(0);
  EXPECT_EQ(row.op, "rmsnorm");
  EXPECT_EQ(row.problem.text(), "M=4096 N=4096 bf16");
  EXPECT_EQ(row.device, "NVIDIA H200");
  EXPECT_EQ(row.default_variant, variant_of(1024, 4));
  EXPECT_EQ(row.outcome, "Measured");
  EXPECT_EQ(*row.ci_low_us, 39.6);
  EXPECT_EQ(*row.ci_high_us, 40.4);
  EXPECT_EQ(*row.ci_level, 0.95);
  EXPECT_EQ(*row.n, 100);
  EXPECT_EQ(row.timer, "events");
  EXPECT_EQ(row.cache_state, "cold");
  EXPECT_EQ(*row.bytes, 96000);
  EXPECT_EQ(*row.bytes_read, 60000);
  EXPECT_EQ(*row.bytes_written, 36000);
  EXPECT_DOUBLE_EQ(*row.gbps, 2.4);  // 96 kB in 40 µs
  EXPECT_DOUBLE_EQ(*row.pct_spec, 0.05);
  EXPECT_FALSE(row.pct_ceiling);
  EXPECT_FALSE(row.floor_us);
  EXPECT_EQ(*row.speedup_vs_default, 1.0);
  EXPECT_EQ(row.enumerated, 15);
  EXPECT_EQ(row.rejected, 8);
  EXPECT_EQ(row.measured, 1);
  const std::map<std::string, std::int64_t> failed{{"TimedOut", 1}, {"WrongResult", 2}};
  EXPECT_EQ(row.failed, failed);
  EXPECT_EQ(row.not_visited, 3);
  EXPECT_EQ(row.reused, 1);
  EXPECT_EQ(row.session, 1);
  EXPECT_EQ(row.spec_hash, "spec1");
  EXPECT_EQ(row.commit, "abc123");
  EXPECT_EQ(row.driver, "580.159.04");
  EXPECT_EQ(row.toolkit, "NVRTC 13.0");
  EXPECT_EQ(row.date, "2026-11-29T10:00:00Z");
  EXPECT_EQ(row.warnings, (Texts{"some variants were not visited: the budget ended the sweep", "clock moved"}));
}

TEST(MakeReport, TakesTheCountsOfADatasetThatHoldsOnlySomeTrials) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z");
  builder.problem("rmsnorm", 4096, 60, 40);
  builder.trial(variant_of(1024), 30.0);
  model::ProblemRecord& problem = builder.dataset.problems.back();
  problem.outcomes = {{"Measured", 7}, {"Rejected", 2}, {"Crashed", 1}};
  problem.enumerated = 10;
  const Row row = make_report(builder.dataset, false).rows.at(0);
  EXPECT_EQ(row.measured, 7);
  EXPECT_EQ(row.rejected, 2);
  EXPECT_EQ(row.failed.at("Crashed"), 1);
}

/// Nine variants, of which a complete sweep measured one and says that it did not visit so many.
Row one_of_nine_measured(std::int64_t not_visited) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z");
  builder.problem("rmsnorm", 4096, 60, 40).enumerated = 9;
  builder.trial(variant_of(1024), 30.0);
  builder.dataset.problems.back().not_visited = not_visited;
  return make_report(builder.dataset, false).rows.at(0);
}

TEST(MakeReport, SaysWhenTheCountsDoNotAddUp) {
  const Row row = one_of_nine_measured(3);
  EXPECT_EQ(row.warnings, Texts{"counts do not add up: 4 of 9 variants are accounted for"});
}

TEST(MakeReport, AnInterruptedSweepCountsTheRestAsNotVisited) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z").complete = false;
  builder.problem("rmsnorm", 4096, 60, 40).enumerated = 9;
  builder.trial(variant_of(1024), 30.0);
  const Row row = make_report(builder.dataset, false).rows.at(0);
  EXPECT_EQ(row.not_visited, 8);
  EXPECT_EQ(row.warnings, Texts{"the sweep did not finish: some variants were not visited"});
}

TEST(MakeReport, SaysThatABudgetEndedTheSweepBeforeItsLastVariant) {
  const Row row = one_of_nine_measured(8);
  EXPECT_EQ(row.warnings, Texts{"some variants were not visited: the budget ended the sweep"});
}

TEST(MakeReport, DoesNotBlameTheBudgetWhereNothingWasMeasured) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z");
  builder.problem("rmsnorm", 4096, 60, 40).enumerated = 9;
  builder.failure(variant_of(1024), model::Outcome::kCrashed, "killed");
  builder.dataset.problems.back().not_visited = 8;
  const Row row = make_report(builder.dataset, false).rows.at(0);
  EXPECT_EQ(row.warnings, Texts{"nothing was measured: see ktune report --explain OP PROBLEM"});
}

TEST(MakeReport, ShowsTheNewestSessionNeverTheBestOfAllTime) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z");
  builder.measured("rmsnorm", 4096, 60, 40, 20.0);
  builder.session("2026-11-27T10:00:00Z");
  builder.measured("rmsnorm", 4096, 60, 40, 10.0);
  builder.measured("rmsnorm", 64, 60, 40, 3.0);
  const Report report = make_report(builder.dataset, false);
  ASSERT_EQ(report.rows.size(), 2U);
  EXPECT_EQ(*report.rows[0].time_us, 3.0);
  EXPECT_EQ(report.rows[0].session, 2);
  EXPECT_EQ(*report.rows[1].time_us, 20.0);
  EXPECT_EQ(report.rows[1].session, 1);
}

TEST(MakeReport, AProblemWhereEverythingFailedHasNullsAndHidesOlderTimes) {
  DatasetBuilder builder;
  builder.session("2026-11-27T10:00:00Z");
  builder.measured("rmsnorm", 4096, 60, 40, 10.0);
  builder.session("2026-11-29T10:00:00Z");
  builder.problem("rmsnorm", 4096, 60, 40);
  builder.failure(variant_of(1024), Outcome::kCompileFailed, "no such intrinsic");
  builder.account();
  const Report report = make_report(builder.dataset, false);
  ASSERT_EQ(report.rows.size(), 1U);
  const Row& row = report.rows[0];
  EXPECT_FALSE(row.time_us);
  EXPECT_FALSE(row.gbps);
  EXPECT_FALSE(row.default_time_us);
  EXPECT_TRUE(row.variant.values.empty());
  EXPECT_EQ(row.trial, 0);
  EXPECT_EQ(row.timer, "");
  EXPECT_EQ(row.failed.at("CompileFailed"), 1);
  EXPECT_EQ(row.warnings, Texts{"nothing was measured: see ktune report --explain OP PROBLEM"});
}

TEST(MakeReport, KeepsDevicesAndCacheStatesApart) {
  DatasetBuilder builder;
  builder.session("2026-11-27T10:00:00Z", "cpu", "EPYC").device.spec_gbps = 0.0;
  builder.measured("rmsnorm", 4096, 60, 40, 900.0);
  builder.dataset.trials.back().samples.timer = model::Timer::kHost;
  builder.session("2026-11-28T10:00:00Z");
  builder.measured("rmsnorm", 4096, 60, 40, 21.0);
  builder.dataset.trials.back().samples.cache_state = model::CacheState::kDirty;
  builder.session("2026-11-29T10:00:00Z");
  builder.measured("rmsnorm", 4096, 60, 40, 18.0);
  const Report report = make_report(builder.dataset, false);
  ASSERT_EQ(report.rows.size(), 3U);
  EXPECT_EQ(report.rows[0].device, "EPYC");
  EXPECT_EQ(report.rows[0].warnings, Texts{"a time of this host's CPU: it says nothing of a GPU"});
  EXPECT_FALSE(report.rows[0].pct_spec);
  EXPECT_EQ(report.rows[1].cache_state, "cold");
  EXPECT_EQ(*report.rows[1].time_us, 18.0);
  EXPECT_EQ(report.rows[2].cache_state, "dirty");
  EXPECT_EQ(*report.rows[2].time_us, 21.0);
}

TEST(MakeReport, LabelsWhatFitsInTheCache) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z").device.l2_bytes = 60 << 20;
  builder.measured("rmsnorm", 1, 16 << 20, 16 << 20, 20.0);
  builder.measured("rmsnorm", 2, 32 << 20, 32 << 20, 30.0);
  builder.measured("rmsnorm", 3, 16 << 20, 4, 20.0);
  builder.measured("rmsnorm", 4, 16 << 20, 4, 20.0);
  builder.dataset.trials.back().samples.cache_state = model::CacheState::kWarm;
  const Report report = make_report(builder.dataset, false);
  ASSERT_EQ(report.rows.size(), 4U);
  EXPECT_EQ(report.rows[0].warnings, Texts{"smaller than L2 (60.0 MiB): what it writes may stay there, not timed"});
  EXPECT_EQ(report.rows[1].warnings, Texts{});
  EXPECT_EQ(report.rows[2].warnings, Texts{});
  EXPECT_EQ(report.rows[3].warnings,
            Texts{"cache-resident: it moves less than 2 × L2 (60.0 MiB), so L2 may serve part of it"});
}

TEST(MakeReport, SortsByDtypeThenSizesAsNumbers) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z");
  builder.measured("rmsnorm", 16384, 60, 40, 1.0, "f32");
  builder.measured("rmsnorm", 64, 60, 40, 1.0, "f32");
  builder.measured("rmsnorm", 4096, 60, 40, 1.0, "bf16");
  builder.measured("copy", 4096, 60, 40, 1.0, "f32");
  std::vector<std::string> order;
  for (const Row& row : make_report(builder.dataset, false).rows) order.push_back(row.op + " " + row.problem.text());
  EXPECT_EQ(order, (Texts{"copy M=4096 N=4096 f32", "rmsnorm M=4096 N=4096 bf16", "rmsnorm M=64 N=4096 f32",
                          "rmsnorm M=16384 N=4096 f32"}));
}

TEST(MakeReport, AllListsEveryTrialOnceFastestFirstWithWhyItFailed) {
  DatasetBuilder builder;
  builder.session("2026-11-27T10:00:00Z");
  builder.problem("rmsnorm", 4096, 60, 40);
  builder.trial(variant_of(1024), 30.0);
  builder.trial(variant_of(512), 10.0);
  builder.failure(variant_of(256), Outcome::kWrongResult, "y: 3 of 4 differ");
  builder.trial(variant_of(512), 11.0, true);
  builder.account();
  const model::TrialRecord reused = builder.dataset.trials[0];
  builder.session("2026-11-29T10:00:00Z");
  builder.problem("rmsnorm", 4096, 60, 40);
  builder.dataset.trials.push_back(reused);
  builder.dataset.trials.back().problem = builder.dataset.problems.back().id;
  builder.account();
  const Report report = make_report(builder.dataset, true);
  EXPECT_TRUE(report.all);
  std::vector<std::int64_t> trials;
  for (const Row& row : report.rows) trials.push_back(row.trial);
  EXPECT_EQ(trials, (std::vector<std::int64_t>{3, 2, 4, 1}));
  EXPECT_EQ(report.rows[0].outcome, "WrongResult");
  EXPECT_FALSE(report.rows[0].time_us);
  EXPECT_EQ(report.rows[0].warnings, Texts{"y: 3 of 4 differ"});
  EXPECT_EQ(*report.rows[1].speedup_vs_default, 3.0);
  EXPECT_EQ(report.rows[2].warnings, Texts{"second timing"});
  EXPECT_EQ(report.rows[3].session, 1);
}

TEST(MakeReport, OfNothingIsEmpty) {
  const Report report = make_report({}, false);
  EXPECT_TRUE(report.rows.empty());
  EXPECT_TRUE(report.notes.empty());
}

}  // namespace
}  // namespace ktune::report
