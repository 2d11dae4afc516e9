#include "report/json.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "model/json.h"
#include "report/fixture.h"
#include "report/metric.h"

namespace ktune::report {
namespace {

using model::Json;

Row full_row() {
  Row row;
  row.op = "rmsnorm";
  row.problem.op = "rmsnorm";
  row.problem.dims = {{"M", 4096}, {"N", 512}};
  row.problem.types = {{"scalar_t", "bf16"}, {"weight_t", "f32"}};
  row.problem.attrs = {{"cast_mode", {1, "gemma"}}, {"level", {3, ""}}};
  row.problem.strides = {{"x", {1024, 1}}};
  row.problem.offsets = {{"x", 1}};
  row.device = "NVIDIA H200";
  row.variant = variant_of(2048, 8);
  row.default_variant = variant_of(1024);
  row.outcome = "Measured";
  row.time_us = 21.25;
  row.ci_low_us = 21.0;
  row.ci_high_us = 21.5;
  row.ci_level = 0.95;
  row.n = 200;
  row.timer = "events";
  row.cache_state = "cold";
  row.bytes = 8396800;
  row.bytes_read = 4198400;
  row.bytes_written = 4198400;
  row.gbps = 395.14352941176473;
  row.pct_spec = 8.25;
  row.pct_ceiling = 9.5;
  row.floor_us = 7.5;
  row.pct_floor = 35.25;
  row.launches = 2;
  row.dram_read = 4200000;
  row.dram_written = 4190000;
  row.default_dram_read = 4300000;
  row.default_dram_written = 4180000;
  row.dram_ratio = 0.999;
  row.tie_set = {variant_of(2048, 8), variant_of(1024, 8)};
  row.default_time_us = 42.5;
  row.speedup_vs_default = 2.0;
  row.enumerated = 1536;
  row.rejected = 1200;
  row.measured = 300;
  row.not_visited = 32;
  row.reused = 12;
  row.failed = {{"WrongResult", 3}, {"TimedOut", 1}};
  row.session = 12;
  row.trial = 345;
  row.spec_hash = "0123";
  row.commit = "abc";
  row.driver = "580.159.04";
  row.toolkit = "NVRTC 13.0";
  row.date = "2026-11-29T14:03:05Z";
  row.warnings = {"clock moved", "ünïcode"};
  return row;
}

TEST(Json, ARowHasExactlyTheKeysOfTheSchemaInTheirOrder) {
  const Json json = Json::parse(print_json({{full_row()}, {}, false}, 0, false));
  EXPECT_EQ(json["schema"], "ktune.report/1");
  std::vector<std::string> keys;
  for (const auto& [key, value] : json["rows"][0].items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"op",
                                            "problem",
                                            "dtype",
                                            "dtypes",
                                            "attrs",
                                            "device",
                                            "variant",
                                            "default_variant",
                                            "time_us",
                                            "ci_low_us",
                                            "ci_high_us",
                                            "ci_level",
                                            "n",
                                            "timer",
                                            "cache_state",
                                            "bytes",
                                            "bytes_read",
                                            "bytes_written",
                                            "gbps",
                                            "pct_spec",
                                            "pct_ceiling",
                                            "floor_us",
                                            "pct_floor",
                                            "default_time_us",
                                            "speedup_vs_default",
                                            "enumerated",
                                            "rejected",
                                            "measured",
                                            "failed",
                                            "not_visited",
                                            "reused",
                                            "session",
                                            "spec_hash",
                                            "commit",
                                            "driver",
                                            "toolkit",
                                            "date",
                                            "trial",
                                            "outcome",
                                            "launches",
                                            "dram_read",
                                            "dram_written",
                                            "default_dram_read",
                                            "default_dram_written",
                                            "dram_ratio",
                                            "tie_set",
                                            "warnings"}));
}

TEST(Json, ARowsValuesAreWhatTheSchemaSays) {
  const Json row = Json::parse(print_json({{full_row()}, {}, false}, 0, false))["rows"][0];
  EXPECT_EQ(row["problem"].dump(), R"({"M":4096,"N":512,"strides":{"x":[1024,1]},"offsets":{"x":1}})");
  EXPECT_EQ(row["dtype"], "bf16");
  EXPECT_EQ(row["dtypes"].dump(), R"({"scalar_t":"bf16","weight_t":"f32"})");
  EXPECT_EQ(row["attrs"].dump(), R"({"cast_mode":"gemma","level":3})");
  EXPECT_EQ(row["variant"].dump(), R"({"BLOCK_SIZE":2048,"num_warps":8,"LOADER":"ldg"})");
  EXPECT_EQ(row["time_us"], 21.25);
  EXPECT_EQ(row["gbps"], 395.14352941176473);
  EXPECT_EQ(row["failed"].dump(), R"({"TimedOut":1,"WrongResult":3})");
  EXPECT_EQ(row["warnings"][0], "clock moved");
}

TEST(Json, WhatIsMissingIsNullNeverZero) {
  Row row;
  row.op = "rmsnorm";
  row.device = "NVIDIA H200";
  const Json json = Json::parse(print_json({{row}, {}, false}, 0, false))["rows"][0];
  for (const char* key : {"dtype",
                          "variant",
                          "default_variant",
                          "time_us",
                          "ci_low_us",
                          "ci_high_us",
                          "ci_level",
                          "n",
                          "timer",
                          "cache_state",
                          "bytes",
                          "bytes_read",
                          "bytes_written",
                          "gbps",
                          "pct_spec",
                          "pct_ceiling",
                          "floor_us",
                          "pct_floor",
                          "launches",
                          "dram_read",
                          "default_dram_written",
                          "dram_ratio",
                          "default_time_us",
                          "speedup_vs_default",
                          "trial",
                          "outcome",
                          "spec_hash",
                          "commit",
                          "driver",
                          "toolkit",
                          "date"})
    EXPECT_TRUE(json[key].is_null()) << key;
  EXPECT_EQ(json["measured"], 0);
  EXPECT_EQ(json["failed"].dump(), "{}");
}

TEST(Json, ParsingIsTheInverseOfPrinting) {
  Row empty;
  empty.op = "copy";
  Report report{{full_row(), empty}, {"no ceiling for 0 % reads"}, true};
  const std::string printed = print_json(report, 0, false);
  const Report back = parse_report(printed, "r.json");
  EXPECT_EQ(print_json(back, 0, false), printed);
  ASSERT_EQ(back.rows.size(), 2U);
  EXPECT_TRUE(back.all);
  EXPECT_EQ(back.notes, report.notes);
  const Row& row = back.rows[0];
  EXPECT_EQ(row.problem.text(), full_row().problem.text());
  EXPECT_EQ(row.problem.op, "rmsnorm");
  EXPECT_EQ(row.variant.text(), "BLOCK_SIZE=2048,num_warps=8,LOADER=ldg");
  EXPECT_EQ(row.ci_high_us, 21.5);
  EXPECT_EQ(row.n, 200);
  EXPECT_EQ(row.bytes_written, 4198400);
  EXPECT_EQ(row.launches, 2);
  EXPECT_EQ(row.default_dram_written, 4180000);
  ASSERT_EQ(row.tie_set.size(), 2U);
  EXPECT_EQ(row.tie_set[1].text(), "BLOCK_SIZE=1024,num_warps=8,LOADER=ldg");
  EXPECT_EQ(row.failed, full_row().failed);
  EXPECT_EQ(row.trial, 345);
  EXPECT_EQ(row.warnings, full_row().warnings);
  EXPECT_FALSE(back.rows[1].time_us);
  EXPECT_EQ(back.rows[1].trial, 0);
}

TEST(Json, AReportFromBeforeAColumnWasThereIsRead) {
  Json json = Json::parse(print_json({{full_row()}, {}, false}, 0, false));
  for (const char* key : {"pct_floor", "launches", "dram_read", "dram_written", "default_dram_read",
                          "default_dram_written", "dram_ratio", "tie_set"})
    json["rows"][0].erase(key);
  const Report back = parse_report(json.dump(), "r.json");
  EXPECT_EQ(back.rows.at(0).floor_us, 7.5);
  EXPECT_FALSE(back.rows.at(0).pct_floor);
  EXPECT_TRUE(back.rows.at(0).tie_set.empty());
}

std::string message_of(const std::string& text, std::string* where = nullptr) {
  try {
    parse_report(text, "r.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    if (where != nullptr) *where = error.where();
    return error.message();
  }
  return "nothing was thrown";
}

TEST(Json, RefusesWhatIsNoReport) {
  std::string where;
  EXPECT_EQ(message_of("{\n  \"schema\": oops}", &where), "this is not JSON");
  EXPECT_EQ(where, "r.json:2:13");
  EXPECT_EQ(message_of("[]", &where), "this is no report of ktune");
  EXPECT_EQ(where, "r.json");
  EXPECT_EQ(message_of("{}"), "this is no report of ktune");
  EXPECT_EQ(message_of(R"({"schema": "other/1"})"), "this is no report of ktune: its schema is other/1");
  EXPECT_EQ(message_of(R"({"schema": "ktune.report/2", "rows": []})"),
            "the report was written by a newer ktune (schema ktune.report/2, this one reads ktune.report/1)");
  EXPECT_EQ(message_of(R"({"schema": "ktune.report/1"})"), "the report has no rows");
  EXPECT_EQ(message_of(R"({"schema": "ktune.report/1", "rows": [3]})"), "rows[0] is not an object");
  EXPECT_EQ(message_of(R"({"schema": "ktune.report/1", "rows": [{"op": "copy"}]})"), "rows[0] has no problem");
}

TEST(Json, NamesTheFieldThatCannotBe) {
  const std::string good = print_json({{full_row(), full_row()}, {}, false}, 0, false);
  for (const auto& [key, bad] : std::vector<std::pair<std::string, Json>>{{"time_us", "fast"},
                                                                          {"op", 3},
                                                                          {"problem", 3},
                                                                          {"dtypes", 3},
                                                                          {"variant", "x"},
                                                                          {"failed", 3},
                                                                          {"tie_set", 3},
                                                                          {"n", "x"},
                                                                          {"warnings", 3}}) {
    Json json = Json::parse(good);
    json["rows"][1][key] = bad;
    EXPECT_EQ(message_of(json.dump()), "rows[1]." + key + " cannot be " + bad.dump());
  }
}

}  // namespace
}  // namespace ktune::report
