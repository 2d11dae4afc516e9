#include "report/fits.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "model/json.h"
#include "report/fixture.h"

namespace ktune::report {
namespace {

using Texts = std::vector<std::string>;

/// t = t0 + bytes / B at 1, 16 and 256 MB.
model::FitRecord fit_of(double read_fraction, double t0_us, double gbps, int launches = 1) {
  model::FitRecord fit;
  fit.device = "NVIDIA H200";
  fit.driver = "580.159.04";
  fit.read_fraction = read_fraction;
  fit.launches = launches;
  fit.date = "2026-11-29T10:00:00Z";
  for (const std::int64_t bytes : {1000000, 16000000, 256000000})
    fit.points.emplace_back(bytes, t0_us + 1e-3 * static_cast<double>(bytes) / gbps);
  EXPECT_TRUE(fit_points(fit));
  return fit;
}

Row row_of(double time_us, std::int64_t read, std::int64_t written, std::vector<model::FitRecord> fits,
           int launches = 0) {
  DatasetBuilder builder;
  builder.session("2026-11-29T12:00:00Z").device.power_limit_w = 700.0;
  builder.problem("rope", 1, read, written).cost.launches = launches;
  builder.trial(variant_of(1024), time_us);
  builder.account();
  builder.dataset.fits = std::move(fits);
  return make_report(builder.dataset, false).rows.at(0);
}

TEST(Fits, FindTheLawTheBestRateAndTheWorstResidual) {
  model::FitRecord fit = fit_of(0.5, 2.0, 4000.0);
  EXPECT_NEAR(fit.t0_us, 2.0, 1e-9);
  EXPECT_NEAR(fit.gbps, 4000.0, 1e-6);
  EXPECT_NEAR(fit.ceiling_gbps, 256000.0 / 66.0, 1e-9);  // 256 MB in 2 + 64 µs
  EXPECT_NEAR(fit.worst_residual_pct, 0.0, 1e-9);
  fit.points[1].second *= 1.1;
  ASSERT_TRUE(fit_points(fit));
  EXPECT_GT(fit.worst_residual_pct, 3.0);
  EXPECT_LT(fit.worst_residual_pct, 10.0);
}

TEST(Fits, TwoSizesAreNoLadder) {
  model::FitRecord fit;
  fit.points = {{1000, 1.0}, {2000, 2.0}};
  EXPECT_FALSE(fit_points(fit));
  EXPECT_EQ(fit.gbps, 0.0);
}

TEST(Fits, MixesHaveTheNamesOfReadsToWrites) {
  EXPECT_EQ(mix_name(1.0), "1:0");
  EXPECT_EQ(mix_name(0.9998), "1:0");
  EXPECT_EQ(mix_name(2.0 / 3), "2:1");
  EXPECT_EQ(mix_name(0.5), "1:1");
  EXPECT_EQ(mix_name(1.0 / 3), "1:2");
  EXPECT_EQ(mix_name(0.2), "1:4");
  EXPECT_EQ(mix_name(0.0), "0:1");
  EXPECT_EQ(mix_name(0.8), "80 % reads");
}

TEST(Fits, TheNewestOfEachKindCounts) {
  model::FitRecord old = fit_of(0.5, 9.0, 1000.0), other = fit_of(0.5, 3.0, 4000.0);
  old.date = "2026-11-01T00:00:00Z";
  other.power_limit_w = 500.0;
  const auto kept = newest_fits({old, fit_of(0.5, 2.0, 4000.0), fit_of(1.0, 2.0, 4400.0), other});
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[0].read_fraction, 1.0);
  EXPECT_NEAR(kept[1].t0_us, 2.0, 1e-9);
  EXPECT_EQ(kept[2].power_limit_w, 500.0);
}

TEST(Fits, AreTheCeilingAndTheFloorOfTheirMix) {
  const Row row = row_of(80.0, 128000000, 128000000, {fit_of(0.5, 2.0, 4000.0)});
  EXPECT_NEAR(*row.pct_ceiling, 100.0 * 66.0 / 80.0, 1e-9);
  EXPECT_NEAR(*row.floor_us, 66.0, 1e-9);
  EXPECT_NEAR(*row.pct_floor, 82.5, 1e-9);
  EXPECT_EQ(row.warnings, Texts{});
}

TEST(Fits, BetweenMixesTimePerByteAndT0AreInterpolated) {
  const Row row =
      row_of(100.0, 192000000, 64000000, {fit_of(0.5, 2.0, 4000.0), fit_of(1.0, 4.0, 5000.0)});  // 75 % reads
  EXPECT_NEAR(*row.floor_us, 3.0 + 0.5 * (64.0 + 51.2), 1e-6);
  EXPECT_NEAR(*row.pct_ceiling, 0.5 * (66.0 + 55.2), 1e-6);
}

TEST(Fits, CountBeforeTheTrialsOfCeilingOps) {
  DatasetBuilder builder;
  builder.session("2026-11-29T12:00:00Z");
  builder.measured("copy", 1, 128000000, 128000000, 60.0);
  builder.measured("rope", 1, 128000000, 128000000, 80.0);
  EXPECT_NEAR(*make_report(builder.dataset, false).rows.at(1).pct_ceiling, 75.0, 1e-9);
  builder.dataset.fits = {fit_of(0.5, 2.0, 4000.0)};
  EXPECT_NEAR(*make_report(builder.dataset, false).rows.at(1).pct_ceiling, 82.5, 1e-9);
}

TEST(Fits, OfAnotherDriverTimerCacheStateOrPowerLimitDoNotCount) {
  for (const int which : {0, 1, 2, 3}) {
    model::FitRecord fit = fit_of(0.5, 2.0, 4000.0);
    if (which == 0) fit.driver = "590";
    if (which == 1) fit.timer = model::Timer::kCupti;
    if (which == 2) fit.cache_state = model::CacheState::kWarm;
    if (which == 3) fit.power_limit_w = 500.0;
    EXPECT_FALSE(row_of(80.0, 128000000, 128000000, {fit}).pct_ceiling) << which;
  }
  model::FitRecord fit = fit_of(0.5, 2.0, 4000.0);
  fit.power_limit_w = 700.3;
  EXPECT_TRUE(row_of(80.0, 128000000, 128000000, {fit}).pct_ceiling);
}

TEST(Fits, TheFloorIsThatOfAsManyLaunchesOrOfTheNextFewer) {
  const std::vector<model::FitRecord> fits{fit_of(0.5, 2.0, 4000.0, 1), fit_of(0.5, 5.0, 4000.0, 2)};
  EXPECT_NEAR(*row_of(80.0, 128000000, 128000000, fits, 0).floor_us, 66.0, 1e-9);  // not known: one
  EXPECT_NEAR(*row_of(80.0, 128000000, 128000000, fits, 1).floor_us, 66.0, 1e-9);
  EXPECT_NEAR(*row_of(80.0, 128000000, 128000000, fits, 2).floor_us, 69.0, 1e-9);
  EXPECT_NEAR(*row_of(80.0, 128000000, 128000000, fits, 3).floor_us, 69.0, 1e-9);
  // Only a fit of more launches: its rate is known, a floor with one launch is not.
  const Row row = row_of(80.0, 128000000, 128000000, {fits[1]}, 1);
  EXPECT_NEAR(*row.pct_ceiling, 100.0 * 69.0 / 80.0, 1e-9);
  EXPECT_FALSE(row.floor_us);
}

TEST(Labels, AboveAHundredAndTwoPerCentOfTheCeilingL2AbsorbedIt) {
  const std::vector<model::FitRecord> fits{fit_of(0.5, 2.0, 4000.0)};
  EXPECT_EQ(row_of(64.8, 128000000, 128000000, fits).warnings, Texts{});  // 101.9 %
  EXPECT_EQ(row_of(64.6, 128000000, 128000000, fits).warnings,            // 102.2 %
            Texts{"L2-absorbed: above 102 % of the ceiling, so part of the traffic stayed in L2"});
}

TEST(Roofline, TheTableShowsEachFitAndDropsWhatMattersLeast) {
  const std::vector<model::FitRecord> fits{fit_of(1.0, 3.0, 4400.0, 2), fit_of(0.5, 2.125, 4272.4)};
  const Table table = roofline_table(fits, 4814.0);
  EXPECT_EQ(table.term(80, false),
            "mix  cache  timer   launches  t0 µs  B GB/s  % of spec  best GB/s\n"
            "1:0  cold   events         2   3.00    4400       91.4       4184\n"
            "1:1  cold   events         1   2.12    4272       88.7       4126\n"
            "not shown at this width: worst residual %, sizes (--format csv has every column)\n");
  for (const int width : {80, 120})
    for (const std::string& line : split(table.term(width, false), '\n')) EXPECT_LE(display_width(line), width);
  EXPECT_EQ(table.term(120, false).find("not shown"), std::string::npos);
  EXPECT_EQ(roofline_table(fits, 0.0).columns.size(), table.columns.size() - 1);
}

TEST(Roofline, JsonHoldsThePoints) {
  const model::Json json = model::Json::parse(roofline_json({fit_of(0.5, 2.0, 4000.0)}, 4814.0, {"a note"}));
  EXPECT_EQ(json["schema"], "ktune.roofline/1");
  EXPECT_EQ(json["spec_gbps"], 4814.0);
  EXPECT_EQ(json["notes"].dump(), R"(["a note"])");
  const model::Json& fit = json["fits"][0];
  EXPECT_EQ(fit["mix"], "1:1");
  EXPECT_EQ(fit["timer"], "events");
  EXPECT_EQ(fit["points"][1].dump(), "[16000000,6.0]");
  EXPECT_NEAR(fit["gbps"].get<double>(), 4000.0, 1e-6);
}

}  // namespace
}  // namespace ktune::report
