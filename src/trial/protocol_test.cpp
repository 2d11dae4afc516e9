#include "trial/protocol.h"

#include <gtest/gtest.h>

namespace ktune::trial {
namespace {

TEST(Protocol, AVerifyReportIsWrittenAndReadAsEver) {
  const verify::Report report{false, 2.5, "y: 12 of 4096 elements differ", true};
  EXPECT_EQ(json_of(report).dump(),
            R"({"ok":false,"margin":2.5,"reason":"y: 12 of 4096 elements differ","lasting":true})");
  const verify::Report read = verify_report_of(json_of(report));
  EXPECT_EQ(json_of(read).dump(), json_of(report).dump());
  EXPECT_FALSE(verify_report_of(Json{{"ok", true}, {"margin", 0.5}, {"reason", ""}}).lasting);
}

TEST(Protocol, AMeasureRequestIsWrittenAndReadAsEver) {
  const measure::Request request{3, 12.5, 4, 5, model::CacheState::kWarm, "graph"};
  EXPECT_EQ(json_of(request).dump(),
            R"({"samples":3,"budget_ms":12.5,"min_samples":4,"max_samples":5,"cache_state":"warm","timer":"graph"})");
  EXPECT_EQ(json_of(measure_request_of(json_of(request))).dump(), json_of(request).dump());
}

TEST(Protocol, AMeasureReportIsWrittenAndReadAsEver) {
  measure::Report report;
  report.samples = {{1.5, 2.25}, model::Timer::kCupti, model::CacheState::kDirty};
  report.before.power_w = 300.0;
  report.warnings = {"clock moved"};
  report.cost_us = 7.5;
  EXPECT_EQ(json_of(report).dump(),
            R"({"time_us":[1.5,2.25],"timer":"cupti","cache_state":"dirty","before":{"sm_clock_mhz":-1.0,)"
            R"("memory_clock_mhz":-1.0,"power_w":300.0,"temperature_c":-1.0,"throttle_bits":0,"other_processes":0},)"
            R"("after":{"sm_clock_mhz":-1.0,"memory_clock_mhz":-1.0,"power_w":-1.0,"temperature_c":-1.0,)"
            R"("throttle_bits":0,"other_processes":0},"warnings":["clock moved"],"cost_us":7.5})");
  EXPECT_EQ(json_of(measure_report_of(json_of(report))).dump(), json_of(report).dump());
}

/// Every field of a message, each missing once.
template <typename Read>
void expect_each_is_wanted(const Json& json, Read&& read, const std::string& but = "") {
  for (const auto& [name, value] : json.items()) {
    Json cut = json;
    cut.erase(name);
    if (name != but) {
      EXPECT_THROW(read(cut), std::exception) << name;
    }
    if (value.is_object()) continue;  // a machine's state has defaults for all
    cut[name] = nullptr;
    EXPECT_THROW(read(cut), std::exception) << name;
  }
}

TEST(Protocol, AFieldThatIsMissingOrNullIsRefused) {
  expect_each_is_wanted(json_of(verify::Report{}), verify_report_of, "lasting");
  expect_each_is_wanted(json_of(measure::Request{}), measure_request_of);
  expect_each_is_wanted(json_of(measure::Report{}), measure_report_of);
}

TEST(Protocol, UnknownNamesAndTooManySamplesAreRefused) {
  Json request = json_of(measure::Request{});
  request["cache_state"] = "hot";
  EXPECT_THROW(measure_request_of(request), std::exception);
  request = json_of(measure::Request{});
  request["max_samples"] = 1'000'001;
  EXPECT_THROW(measure_request_of(request), std::exception);
  Json report = json_of(measure::Report{});
  report["timer"] = "sundial";
  EXPECT_THROW(measure_report_of(report), std::exception);
}

}  // namespace
}  // namespace ktune::trial
