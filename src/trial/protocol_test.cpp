#include "trial/protocol.h"

#include <gtest/gtest.h>

namespace ktune::trial {
namespace {

TEST(Protocol, AVerifyReportIsWrittenAndReadAsEver) {
  const verify::Verification report{false, 2.5, "y: 12 of 4096 elements differ", true, ""};
  EXPECT_EQ(Json(report).dump(),
            R"({"ok":false,"margin":2.5,"reason":"y: 12 of 4096 elements differ","lasting":true,"varies":""})");
  const verify::Verification read = Json(report).get<verify::Verification>();
  EXPECT_EQ(Json(read).dump(), Json(report).dump());
  EXPECT_FALSE(
      (Json{{"ok", true}, {"margin", 0.5}, {"reason", ""}, {"varies", ""}}.get<verify::Verification>().lasting));
}

TEST(Protocol, AMeasureRequestIsWrittenAndReadAsEver) {
  const measure::Request request{3, 12.5, 4, 5, model::CacheState::kWarm, model::Timer::kGraph};
  EXPECT_EQ(Json(request).dump(),
            R"({"samples":3,"budget_ms":12.5,"min_samples":4,"max_samples":5,"cache_state":"warm","timer":"graph"})");
  EXPECT_EQ(Json(measure_request_of(Json(request))).dump(), Json(request).dump());
}

TEST(Protocol, AMeasureReportIsWrittenAndReadAsEver) {
  measure::Measurement report;
  report.samples = {{1.5, 2.25}, model::Timer::kCupti, model::CacheState::kDirty};
  report.before.power_w = 300.0;
  report.warnings = {"clock moved"};
  report.cost_us = 7.5;
  EXPECT_EQ(Json(report).dump(),
            R"({"time_us":[1.5,2.25],"timer":"cupti","cache_state":"dirty","before":{"sm_clock_mhz":-1.0,)"
            R"("memory_clock_mhz":-1.0,"power_w":300.0,"temperature_c":-1.0,"throttle_bits":0,"other_processes":0},)"
            R"("after":{"sm_clock_mhz":-1.0,"memory_clock_mhz":-1.0,"power_w":-1.0,"temperature_c":-1.0,)"
            R"("throttle_bits":0,"other_processes":0},"warnings":["clock moved"],"cost_us":7.5})");
  EXPECT_EQ(Json(Json(report).get<measure::Measurement>()).dump(), Json(report).dump());
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
    if (value.is_object() || value.is_number_float()) continue;  // a state has defaults; a null double is NaN
    cut[name] = nullptr;
    EXPECT_THROW(read(cut), std::exception) << name;
  }
}

TEST(Protocol, AFieldThatIsMissingOrNullIsRefused) {
  expect_each_is_wanted(
      Json(verify::Verification{}), [](const Json& json) { (void)json.get<verify::Verification>(); }, "lasting");
  expect_each_is_wanted(Json(measure::Request{}), measure_request_of);
  expect_each_is_wanted(Json(measure::Measurement{}), [](const Json& json) { (void)json.get<measure::Measurement>(); });
}

TEST(Protocol, UnknownNamesTooManySamplesAndNoBudgetAreRefused) {
  Json request = Json(measure::Request{});
  request["cache_state"] = "hot";
  EXPECT_THROW(measure_request_of(request), std::exception);
  request = Json(measure::Request{});
  request["max_samples"] = 1'000'001;
  EXPECT_THROW(measure_request_of(request), std::exception);
  request = Json(measure::Request{});
  request["budget_ms"] = nullptr;
  EXPECT_THROW(measure_request_of(request), std::exception);
  Json report = Json(measure::Measurement{});
  report["timer"] = "sundial";
  EXPECT_THROW(report.get<measure::Measurement>(), std::exception);
}

}  // namespace
}  // namespace ktune::trial
