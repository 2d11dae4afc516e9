#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "model/json.h"
#include "verdict/fixture.h"
#include "verdict/print.h"

namespace ktune::verdict {
namespace {

using model::Json;

Result timed_result() {
  Result result = sample_result();
  result.rows.resize(2);
  result.rows[1].candidate_figures_us = {19.0, 21.0, kNone, 20.0};
  return result;
}

Json candidate() { return Json::parse(print_google_benchmark(timed_result(), 0, false)); }
Json base() { return Json::parse(print_google_benchmark_base(timed_result(), 0, false)); }

TEST(GateGoogleBenchmark, HasTheContextThatGoogleBenchmarkWrites) {
  const Json context = candidate()["context"];
  EXPECT_EQ(context["date"], "2026-11-29T14:03:05Z");
  EXPECT_EQ(context["host_name"], "NVIDIA H200");
  EXPECT_EQ(context["executable"], "ktune gate");
  EXPECT_EQ(context["num_cpus"], 132);
  EXPECT_EQ(context["mhz_per_cpu"], 0);
  EXPECT_EQ(context["cpu_scaling_enabled"], false);
  EXPECT_EQ(context["caches"].dump(), R"([{"type":"Unified","level":2,"size":62914560,"num_sharing":132}])");
  EXPECT_EQ(context["load_avg"], Json::array());
  EXPECT_EQ(context["library_build_type"], "release");
  EXPECT_EQ(context["ktune_revision"], "HEAD");
  EXPECT_EQ(base()["context"]["ktune_revision"], "main");
}

TEST(GateGoogleBenchmark, AProcessIsARepetitionAndOneWithoutATimeIsLeftOut) {
  const Json list = candidate()["benchmarks"];
  ASSERT_EQ(list.size(), 1u + 3 + 4);
  EXPECT_EQ(
      list[0].dump(),
      R"({"name":"copy/N:1048576/f32/manual_time","family_index":0,"per_family_instance_index":0,)"
      R"("run_name":"copy/N:1048576/f32/manual_time","run_type":"iteration","repetitions":1,"repetition_index":0,)"
      R"("threads":1,"iterations":1,"real_time":4.072,"cpu_time":4.072,"time_unit":"us",)"
      R"("label":"BLOCK_SIZE=4096,num_warps=8 timer=events"})");
  EXPECT_EQ(list[3]["name"], "rmsnorm/M:4096/N:4096/bf16/manual_time");
  EXPECT_EQ(list[3]["repetition_index"], 2);
  EXPECT_EQ(list[3]["repetitions"], 3);
  EXPECT_EQ(list[3]["real_time"], 20.0);
  EXPECT_EQ(base()["benchmarks"][1]["real_time"], 18.9);
}

TEST(GateGoogleBenchmark, BaseOfAStoredGateIsWhatItsLevelAsksBesideEachControl) {
  Result result = timed_result();
  result.mode = Mode::kStored;
  Row& row = result.rows[1];
  row.base_us = 19.0;                             // of another day
  row.base_figures_us = {10.0, 11.0, 12.0};       // the control
  row.candidate_figures_us = {21.0, 23.1, 25.2};  // 2.1 of it
  row.shift_pct = 5.0;                            // the level is 2.0
  const Json list = Json::parse(print_google_benchmark_base(result, 0, false))["benchmarks"];
  ASSERT_EQ(list.size(), 1u + 3 + 4);
  EXPECT_DOUBLE_EQ(list[1]["real_time"], 20.0);
  EXPECT_DOUBLE_EQ(list[2]["real_time"], 22.0);
  EXPECT_DOUBLE_EQ(list[3]["real_time"], 24.0);
  row.shift_pct = kNone;  // not judged: what the baseline's kernel took
  const Json single = Json::parse(print_google_benchmark_base(result, 0, false))["benchmarks"];
  ASSERT_EQ(single.size(), 2u);
  EXPECT_EQ(single[1]["real_time"], 19.0);
}

TEST(GateGoogleBenchmark, TheAggregatesAreThoseOfItsReporter) {
  const Json list = candidate()["benchmarks"];
  EXPECT_EQ(list[4].dump(),
            R"({"name":"rmsnorm/M:4096/N:4096/bf16/manual_time_mean","family_index":1,"per_family_instance_index":0,)"
            R"("run_name":"rmsnorm/M:4096/N:4096/bf16/manual_time","run_type":"aggregate","repetitions":3,"threads":1,)"
            R"("aggregate_name":"mean","aggregate_unit":"time","iterations":3,"real_time":20.0,"cpu_time":20.0,)"
            R"("time_unit":"us"})");
  EXPECT_EQ(list[5]["name"], "rmsnorm/M:4096/N:4096/bf16/manual_time_median");
  EXPECT_EQ(list[5]["real_time"], 20.0);
  EXPECT_EQ(list[6]["aggregate_name"], "stddev");
  EXPECT_EQ(list[6]["real_time"], 1.0);
  EXPECT_EQ(list[7]["aggregate_unit"], "percentage");
  EXPECT_EQ(list[7]["real_time"], 0.05);
}

// tools/gbench/report.py: partition_benchmarks pairs by name and the unit of base's first entry that has time_unit,
// real_time and cpu_time; calc_utest wants two or more of both times; gbench/util.py sorts by the indices.
TEST(GateGoogleBenchmark, ComparePyFindsEachKernelInBothFiles) {
  const Json lhs = base()["benchmarks"], rhs = candidate()["benchmarks"];
  const auto times = [](const Json& list, const std::string& name, const char* field) {
    std::vector<double> values;
    for (const Json& entry : list) {
      if (entry["name"] == name && entry["time_unit"] == "us") values.push_back(entry[field].get<double>());
    }
    return values;
  };
  const std::string name = "rmsnorm/M:4096/N:4096/bf16/manual_time";
  EXPECT_EQ(times(lhs, name, "real_time"), (std::vector{18.9, 18.92, 18.91}));
  EXPECT_EQ(times(rhs, name, "real_time"), (std::vector{19.0, 21.0, 20.0}));
  EXPECT_EQ(times(rhs, name, "cpu_time"), times(rhs, name, "real_time"));
  std::set<std::string> left, right;
  for (const Json& entry : lhs) left.insert(entry["name"].get<std::string>());
  for (const Json& entry : rhs) right.insert(entry["name"].get<std::string>());
  EXPECT_EQ(left, right);
}

// Bencher's adapter (cpp_google): context.caches is an array of objects; name, real_time and time_unit of each entry.
// github-action-benchmark's extractGoogleCppResult: those, and iterations, cpu_time and threads.
TEST(GateGoogleBenchmark, EveryEntryHasWhatTheDashboardsRead) {
  for (const Json& file : {candidate(), base()}) {
    for (const Json& cache : file["context"]["caches"]) EXPECT_TRUE(cache.is_object());
    for (const Json& entry : file["benchmarks"]) {
      EXPECT_FALSE(entry["name"].get<std::string>().empty());
      EXPECT_TRUE(entry["real_time"].is_number_float()) << entry;
      EXPECT_TRUE(entry["cpu_time"].is_number_float());
      EXPECT_EQ(entry["time_unit"], "us");
      EXPECT_TRUE(entry["iterations"].is_number_integer());
      EXPECT_EQ(entry["threads"], 1);
    }
  }
}

TEST(GateGoogleBenchmark, AKernelThatIsWrongIsAnErrorOfTheCandidate) {
  Result result = sample_result();
  result.rows = {result.rows[4], result.rows[5]};
  const Json list = Json::parse(print_google_benchmark(result, 0, false))["benchmarks"];
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].dump(),
            R"({"name":"rope/M:4096/N:128/bf16/manual_time","family_index":0,"per_family_instance_index":0,)"
            R"("run_name":"rope/M:4096/N:128/bf16/manual_time","run_type":"iteration","repetitions":1,)"
            R"("repetition_index":0,"threads":1,"error_occurred":true,)"
            R"("error_message":"y: 3 of 524288 differ, worst at [7, 12]","iterations":0,"real_time":0.0,)"
            R"("cpu_time":0.0,"time_unit":"us","label":"num_warps=8"})");
  EXPECT_EQ(Json::parse(print_google_benchmark_base(result, 0, false))["benchmarks"], Json::array());
}

TEST(GateGoogleBenchmark, TwoVariantsOfAProblemKeepTheirNamesApart) {
  Result result;
  result.rows = {row_of("a", "N=1 f32", Verdict::kPass, 1, 2, 0, 0, 1),
                 row_of("a", "N=1 f32", Verdict::kPass, 3, 4, 0, 0, 1)};
  const Json json = Json::parse(print_google_benchmark_base(result, 0, false));
  EXPECT_EQ(json["benchmarks"][0]["name"], "a/N:1/f32/manual_time");
  EXPECT_EQ(json["benchmarks"][1]["name"], "a/N:1/f32/manual_time#2");
  EXPECT_EQ(json["context"]["caches"], Json::array());
}

}  // namespace
}  // namespace ktune::verdict
