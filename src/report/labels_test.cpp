// What a row says besides its time: labels with L2's size as the measure, counted traffic, the winner and its ties.

#include <gtest/gtest.h>

#include "report/fixture.h"
#include "report/report.h"

namespace ktune::report {
namespace {

TEST(Labels, ThresholdsAreMultiplesOfL2) {
  struct Case {
    std::int64_t bytes;
    model::CacheState state;
    model::Timer timer;
    std::vector<std::string> warnings;
  };
  const std::int64_t l2 = 60 << 20;
  const std::string resident = "cache-resident: it moves less than 2 × L2 (60.0 MiB), so L2 may serve part of it";
  const std::string absorbs = "smaller than L2 (60.0 MiB): what it writes may stay there, not timed";
  const auto cold = model::CacheState::kCold, warm = model::CacheState::kWarm;
  for (const Case& one :
       {Case{2 * l2 - 2, warm, model::Timer::kEvents, {resident}}, Case{2 * l2, warm, model::Timer::kEvents, {}},
        Case{2 * l2 - 2, cold, model::Timer::kGraph, {resident}}, Case{l2, cold, model::Timer::kEvents, {absorbs}},
        Case{2 * l2 - 2, cold, model::Timer::kCupti, {}}}) {
    DatasetBuilder builder;
    builder.session("2026-11-29T10:00:00Z").device.l2_bytes = l2;
    builder.measured("rope", 1, one.bytes / 2, one.bytes / 2, 50.0);
    builder.dataset.trials.back().samples.cache_state = one.state;
    builder.dataset.trials.back().samples.timer = one.timer;
    EXPECT_EQ(make_report(builder.dataset, false).rows.at(0).warnings, one.warnings) << one.bytes;
  }
}

/// A winner and a default above 4 × L2, as the counters saw them; bytes are the model's 400 MB.
Row counted_row(std::int64_t winner_read, std::int64_t default_read, std::int64_t l2) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z").device.l2_bytes = l2;
  builder.problem("rope", 1, 200000000, 200000000);
  builder.trial(variant_of(1024), 100.0, true).traffic = {default_read, 200000000, ""};
  builder.trial(variant_of(2048), 90.0, true).traffic = {winner_read, 200000000, ""};
  builder.dataset.problems.back().enumerated = 0;
  return make_report(builder.dataset, false).rows.at(0);
}

TEST(Traffic, IsShownBesideTheModelsAndFlaggedWhereTheyDisagree) {
  const Row good = counted_row(204000000, 230000000, 60 << 20);
  EXPECT_EQ(*good.dram_read, 204000000);
  EXPECT_EQ(*good.default_dram_read, 230000000);
  EXPECT_NEAR(*good.dram_ratio, 1.01, 1e-9);
  EXPECT_EQ(good.warnings, std::vector<std::string>{});
  const Row wasted = counted_row(300000000, 100000000, 60 << 20);
  EXPECT_EQ(wasted.warnings,
            (std::vector<std::string>{
                "traffic: the winner moves 1.25 × the model's bytes in DRAM: traffic wasted or model wrong",
                "traffic: the default moves 0.75 × the model's bytes in DRAM: traffic wasted or model wrong"}));
  EXPECT_EQ(counted_row(300000000, 100000000, 100000000).warnings, std::vector<std::string>{});  // 4 × L2: not above
}

TEST(Traffic, WhereItWasNotCountedTheReasonIsSaid) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z");
  builder.measured("rope", 1, 200000000, 200000000, 100.0);
  builder.dataset.trials.back().traffic.why_not = "for administrators only: run as root";
  const Row row = make_report(builder.dataset, false).rows.at(0);
  EXPECT_FALSE(row.dram_ratio);
  EXPECT_EQ(row.warnings, std::vector<std::string>{"counters: for administrators only: run as root"});
}

TEST(Winners, AreTheOnesThatTheSweepNamedWithTheirTies) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z");
  builder.problem("rope", 1, 200000000, 200000000);
  builder.trial(variant_of(1024), 100.0, true);
  builder.trial(variant_of(2048), 99.9, true);
  builder.trial(variant_of(4096), 120.0, true);
  EXPECT_EQ(make_report(builder.dataset, false).rows.at(0).variant, variant_of(2048));
  builder.dataset.problems.back().winner = variant_of(1024);
  builder.dataset.problems.back().tie_set = {variant_of(1024), variant_of(2048)};
  const Row row = make_report(builder.dataset, false).rows.at(0);
  EXPECT_EQ(row.variant, variant_of(1024));
  EXPECT_EQ(*row.time_us, 100.0);
  EXPECT_EQ(row.tie_set.size(), 2U);
  builder.dataset.problems.back().winner = variant_of(8192);  // no trial of it here: the fastest
  EXPECT_EQ(make_report(builder.dataset, false).rows.at(0).variant, variant_of(2048));
}

}  // namespace
}  // namespace ktune::report
