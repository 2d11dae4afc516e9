#include "report/ceiling.h"

#include <gtest/gtest.h>

#include "report/fixture.h"

namespace ktune::report {
namespace {

using Texts = std::vector<std::string>;

/// Copies of three sizes with t = 5 µs + bytes / 4 TB/s, reads with t = 3 µs + bytes / 5 TB/s.
DatasetBuilder copy_and_read() {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z");
  for (const std::int64_t mb : {40, 400, 4000}) {
    const std::int64_t bytes = mb * 1000000;
    builder.measured("copy", mb, bytes / 2, bytes / 2, 5.0 + static_cast<double>(bytes) / 4e6);
    builder.measured("read", mb, bytes, 0, 3.0 + static_cast<double>(bytes) / 5e6);
  }
  return builder;
}

const Row& row_of(const Report& report, const std::string& op) {
  for (const Row& row : report.rows)
    if (row.op == op) return row;
  throw std::out_of_range(op);
}

TEST(FitAffine, FindsTheLawOfExactPoints) {
  const auto fit = fit_affine({{1000.0, 5.5}, {10000.0, 10.0}, {100000.0, 55.0}});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->t0_us, 5.0, 1e-9);
  EXPECT_NEAR(fit->us_per_byte, 5e-4, 1e-13);
}

TEST(FitAffine, WeighsRelativeErrorsSoThatALargeSizesNoiseDoesNotMoveTheFixedCost) {
  // 0.1 % more at the largest size is 2 µs: an absolute fit would move t0 by about as much.
  const auto fit = fit_affine({{4e6, 6.0}, {4e7, 15.0}, {8e9, 2005.0 * 1.001}});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->t0_us, 5.0, 0.01);
}

TEST(FitAffine, NeedsThreeSizesAndATimeThatGrows) {
  EXPECT_FALSE(fit_affine({}));
  EXPECT_FALSE(fit_affine({{1.0, 1.0}, {2.0, 2.0}}));
  EXPECT_FALSE(fit_affine({{1.0, 1.0}, {1.0, 1.1}, {2.0, 2.0}}));
  EXPECT_FALSE(fit_affine({{1.0, 5.0}, {2.0, 4.0}, {3.0, 3.0}}));
}

TEST(FitAffine, NeverGivesANegativeFixedCost) {
  const auto fit = fit_affine({{1.0, 1.0}, {2.0, 2.5}, {4.0, 6.0}});
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->t0_us, 0.0);
  EXPECT_NEAR(fit->us_per_byte, (1.0 + 2.0 / 2.5 + 4.0 / 6.0) / (1.0 + 4.0 / 6.25 + 16.0 / 36.0), 1e-12);
}

TEST(MakeReport, MeasuresAgainstTheBestRateOfTheSameMix) {
  DatasetBuilder builder = copy_and_read();
  builder.measured("rmsnorm", 1, 200400000, 200000000, 110.0);
  const Report report = make_report(builder.dataset, false);
  EXPECT_EQ(report.notes, Texts{});
  const Row& row = row_of(report, "rmsnorm");
  const double best_copy = 1005.0 / 4e9;  // µs per byte of the largest copy
  EXPECT_NEAR(*row.pct_ceiling, 100.0 * best_copy * 400400000.0 / 110.0, 1e-9);
  EXPECT_NEAR(*row.floor_us, 5.0 + 400.4 / 4.0, 1e-6);
}

TEST(MakeReport, TheBestCopyIsAtItsCeilingAndSmallOnesBelow) {
  const Report report = make_report(copy_and_read().dataset, false);
  ASSERT_EQ(report.rows.size(), 6U);
  EXPECT_NEAR(*report.rows[2].pct_ceiling, 100.0, 1e-9);
  EXPECT_NEAR(*report.rows[0].pct_ceiling, 100.0 * (1005.0 / 4e9) * 4e7 / 15.0, 1e-9);
  EXPECT_NEAR(*report.rows[0].floor_us, 15.0, 1e-6);
}

TEST(MakeReport, InterpolatesTimePerByteBetweenMixes) {
  DatasetBuilder builder = copy_and_read();
  builder.measured("add", 1, 300000000, 100000000, 120.0);  // 75 % reads: half way from copy to read
  const Report report = make_report(builder.dataset, false);
  const Row& row = row_of(report, "add");
  const double per_byte = 0.5 * (1005.0 / 4e9) + 0.5 * (803.0 / 4e9);
  EXPECT_NEAR(*row.pct_ceiling, 100.0 * per_byte * 4e8 / 120.0, 1e-9);
  EXPECT_NEAR(*row.floor_us, 4.0 + 4e8 * 0.5 * (1.0 / 4e6 + 1.0 / 5e6), 1e-6);
}

TEST(MakeReport, SaysWhatWasMeasuredWhereAMixIsOutsideOfIt) {
  DatasetBuilder builder = copy_and_read();
  builder.measured("fill", 1, 0, 400000000, 120.0);
  const Report report = make_report(builder.dataset, false);
  const Row& row = row_of(report, "fill");
  EXPECT_FALSE(row.pct_ceiling);
  EXPECT_FALSE(row.floor_us);
  EXPECT_EQ(report.notes, Texts{"no ceiling for 0 % reads on NVIDIA H200, driver 580.159.04 (events, cold L2): "
                                "measured are only copy (50 %), read (100 %)"});
}

TEST(MakeReport, ACeilingOfAnotherDriverTimerOrCacheStateDoesNotCount) {
  for (const int which : {0, 1, 2}) {
    DatasetBuilder builder = copy_and_read();
    builder.session("2026-11-30T10:00:00Z").device.driver = which == 0 ? "590" : "580.159.04";
    builder.measured("rmsnorm", 1, 200000000, 200000000, 110.0);
    model::Samples& samples = builder.dataset.trials.back().samples;
    if (which == 1) samples.timer = model::Timer::kCupti;
    if (which == 2) samples.cache_state = model::CacheState::kDirty;
    const Report report = make_report(builder.dataset, false);
    EXPECT_FALSE(row_of(report, "rmsnorm").pct_ceiling) << which;
    ASSERT_EQ(report.notes.size(), 1U);
    EXPECT_TRUE(report.notes[0].starts_with("no ceiling for NVIDIA H200, driver ")) << report.notes[0];
    EXPECT_TRUE(report.notes[0].ends_with(": `ktune roofline` measures it")) << report.notes[0];
  }
}

TEST(MakeReport, TakesCeilingsFromASecondDatasetWithoutListingThem) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z");
  builder.measured("rmsnorm", 1, 200000000, 200000000, 110.0);
  const Report report = make_report(builder.dataset, false, copy_and_read().dataset);
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_NEAR(*report.rows[0].pct_ceiling, 100.0 * (1005.0 / 4e9) * 4e8 / 110.0, 1e-9);
  EXPECT_EQ(report.notes, Texts{});
}

TEST(MakeReport, AFloorNeedsThreeSizesOfItsMix) {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z");
  builder.measured("copy", 1, 1000, 1000, 5.0);
  builder.measured("copy", 2, 2000, 2000, 6.0);
  builder.measured("copy", 2, 2000, 2000, 6.0, "f32");
  const Report report = make_report(builder.dataset, false);
  EXPECT_NEAR(*report.rows[0].pct_ceiling, 100.0 * (6.0 / 4000.0) * 2000.0 / 5.0, 1e-9);
  EXPECT_FALSE(report.rows[0].floor_us);
}

TEST(MakeReport, CallsARunLatencyBoundWhereItsBytesTakeLessThanTwiceTheFixedCost) {
  DatasetBuilder builder = copy_and_read();
  builder.measured("rmsnorm", 1, 19000000, 19000000, 20.0);  // 9.5 µs of bytes on 5 µs
  builder.measured("rmsnorm", 2, 21000000, 21000000, 20.0);  // 10.5 µs
  const Report report = make_report(builder.dataset, false);
  EXPECT_EQ(row_of(report, "rmsnorm").warnings,
            Texts{"latency-bound: moving the bytes takes less than twice what a launch costs"});
  EXPECT_EQ(report.rows.back().warnings, Texts{});
}

}  // namespace
}  // namespace ktune::report
