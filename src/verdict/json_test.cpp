#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "model/json.h"
#include "verdict/fixture.h"
#include "verdict/formats.h"
#include "verdict/print.h"

namespace ktune::verdict {
namespace {

using model::Json;

/// With figures behind what passes, as a gate has them.
Result valid_result() {
  Result result = sample_result();
  result.rows[0].base_figures_us = {4.07, 4.06};
  result.rows[0].candidate_figures_us = {4.07, 4.08};
  return result;
}

std::string printed(const Result& result) { return print_json(result, 0, false); }

/// "MESSAGE at WHERE" of the Error, "" where there is none.
std::string refusal(const std::string& text) {
  try {
    parse_result(text, "run.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.message() + " at " + error.where();
  }
  return "";
}

std::string refusal_with(const std::string& field, const Json& value) {
  Json json = Json::parse(printed(valid_result()));
  json[Json::json_pointer(field)] = value;
  return refusal(json.dump());
}

TEST(GateJson, NamesItsSchemaAndEveryField) {
  const Json json = Json::parse(printed(valid_result()));
  EXPECT_EQ(json["schema"], "ktune.gate/1");
  EXPECT_EQ(json["verdict"], "WRONG");
  EXPECT_EQ(json["mode"], "paired");
  EXPECT_EQ(json["seed"], 18446744073709551615u);
  EXPECT_EQ(json["device"]["driver"], "580.159.04");
  const Json& row = json["rows"][1];
  EXPECT_EQ(row["verdict"], "REGRESSED");
  EXPECT_EQ(row["candidate_us"], 19.314);
  EXPECT_EQ(row["shift_pct"], 2.14);
  EXPECT_EQ(row["confirmed"], true);
  EXPECT_EQ(row["base_figures_us"], Json({18.9, 18.92, 18.91}));
  EXPECT_EQ(row["candidate_figures_us"].dump(), "[19.31,19.3,null]");
  EXPECT_TRUE(json["rows"][4]["candidate_us"].is_null());
  EXPECT_EQ(json["rows"][5]["blocks"], false);
}

TEST(GateJson, ReadsResultsOfBeforeTheCommitsOfRows) {
  Json json = Json::parse(printed(valid_result()));
  json.erase("baseline_checksum");
  for (Json& row : json["rows"]) row.erase("tree_commit");
  EXPECT_EQ(refusal(json.dump()), "");
  json.erase("candidate_commit");
  EXPECT_EQ(refusal(json.dump()), "candidate_commit is missing at run.json");
}

TEST(GateJson, CommittedResultsAreReadAndPrintedAsTheyStand) {
  for (const char* name : {"gate-aa", "gate-stored", "gate-stored-again", "gate-stored-planted"}) {
    const std::string text = read_file(resource_root() / "results" / "h200" / (std::string(name) + ".json"));
    EXPECT_EQ(printed(parse_result(text, name)), text);
  }
}

TEST(GateJson, IsReadBackAsItWasWritten) {
  Result result = valid_result();
  result.baseline_checksum = "xxh3-128:ab";
  result.rows[1].tree_commit = "def";
  result.pass_inconclusive = true;
  result.rows[0].identical = true;
  result.rows[0].high_pct = std::numeric_limits<double>::infinity();
  const Result again = parse_result(printed(result), "run.json");
  EXPECT_EQ(printed(again), printed(result));
  EXPECT_EQ(again.rows.size(), 6u);
  EXPECT_EQ(again.seed, 18446744073709551615u);
  EXPECT_TRUE(std::isnan(again.rows[4].base_us));
  EXPECT_TRUE(std::isnan(again.rows[1].candidate_figures_us[2]));
  EXPECT_TRUE(std::isinf(again.rows[0].high_pct));
  EXPECT_EQ(again.rows[1].low_pct, result.rows[1].low_pct);
  EXPECT_EQ(again.device.sm_count, 132);
  EXPECT_EQ(again.notes, result.notes);
}

TEST(GateJson, HoldsWhatChangedInTheMachineCode) {
  Result result = valid_result();
  result.rows[1].target = "sm_90";
  result.rows[1].changes = {{"registers", "40", "44"}, {"LDG.128", "8", "0"}};
  const Json json = Json::parse(printed(result));
  EXPECT_EQ(json["rows"][1]["target"], "sm_90");
  EXPECT_EQ(json["rows"][1]["changes"][0].dump(), R"({"what":"registers","base":"40","candidate":"44"})");
  const Result again = parse_result(printed(result), "run.json");
  EXPECT_EQ(again.rows[1].changes, result.rows[1].changes);
  EXPECT_EQ(again.rows[1].target, "sm_90");
  EXPECT_EQ(refusal_with("/rows/1/changes", Json::parse(R"([{"what":"registers","base":40}])")),
            "rows[1].changes cannot be [{\"what\":\"registers\",\"base\":40}] at run.json");
}

TEST(GateJson, HoldsTextThatIsNotUtf8) {
  Result result = valid_result();
  result.rows[4].reason = "bad \xff byte";
  EXPECT_EQ(parse_result(printed(result), "run.json").rows[4].reason, "bad \xEF\xBF\xBD byte");
}

TEST(GateJson, SaysWhereAFileIsCutOrNoJson) {
  const std::string text = printed(valid_result());
  EXPECT_EQ(refusal(text.substr(0, 40)), "this JSON ends too early: the file was cut at run.json:3:11");
  EXPECT_EQ(refusal(""), "this JSON ends too early: the file was cut at run.json:1:1");
  EXPECT_EQ(refusal("{\n  nonsense}"), "this is not JSON at run.json:2:4");
}

TEST(GateJson, RefusesAnotherSchema) {
  EXPECT_EQ(refusal("[1]"), "this is no result of ktune gate at run.json");
  EXPECT_EQ(refusal_with("/schema", "ktune.report/1"),
            "this is no result of ktune gate: its schema is ktune.report/1 at run.json");
  EXPECT_EQ(refusal_with("/schema", "ktune.gate/2"),
            "the result was written by another ktune (schema ktune.gate/2, this one reads ktune.gate/1) at run.json");
}

TEST(GateJson, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(refusal_with("/rows/3/shift_pct", "2"), "rows[3].shift_pct cannot be \"2\" at run.json");
  EXPECT_EQ(refusal_with("/rows/0/verdict", "OK"), "rows[0].verdict cannot be \"OK\" at run.json");
  EXPECT_EQ(refusal_with("/rows/0/pairs", -1), "rows[0].pairs cannot be -1 at run.json");
  EXPECT_EQ(refusal_with("/rows/1/base_figures_us/1", true),
            "rows[1].base_figures_us cannot be [18.9,true,18.91] at run.json");
  EXPECT_EQ(refusal_with("/rows/2", 5), "rows[2] is not an object at run.json");
  EXPECT_EQ(refusal_with("/rows/0/identical", 1), "rows[0].identical cannot be 1 at run.json");
  EXPECT_EQ(refusal_with("/rows/0/op", nullptr), "rows[0].op cannot be null at run.json");
  EXPECT_EQ(refusal_with("/notes/0", 1), "notes cannot be [1] at run.json");
  EXPECT_EQ(refusal_with("/mode", 0), "mode cannot be 0 at run.json");
  EXPECT_EQ(refusal_with("/seed", -3), "seed cannot be -3 at run.json");
  EXPECT_EQ(refusal_with("/device/sm_count", "many").substr(0, 16), "device cannot be");
  EXPECT_EQ(refusal_with("/rows", Json::object()), "the result has no rows at run.json");
  Json json = Json::parse(printed(valid_result()));
  json["rows"][1].erase("p_slower");
  EXPECT_EQ(refusal(json.dump()), "rows[1].p_slower is missing at run.json");
  json.erase("seconds");
  EXPECT_EQ(refusal(json.dump()), "seconds is missing at run.json");
}

TEST(GateJson, AVerdictIsWhatItsRowsMake) {
  EXPECT_EQ(refusal_with("/verdict", "PASS"), "verdict is PASS and its rows make WRONG at run.json");
  EXPECT_EQ(refusal_with("/verdict", "INCONCLUSIVE"), "verdict is INCONCLUSIVE and its rows make WRONG at run.json");
  Result result = valid_result();
  result.rows.clear();
  result.verdict = Verdict::kImproved;
  EXPECT_EQ(refusal(printed(result)), "verdict is IMPROVED and its rows make NO DATA at run.json");
  result.verdict = Verdict::kNoData;
  EXPECT_EQ(refusal(printed(result)), "");
}

TEST(GateJson, APassHasFiguresThatPass) {
  EXPECT_EQ(refusal(printed(valid_result())), "");
  EXPECT_EQ(refusal_with("/rows/0/candidate_figures_us", Json::array()),
            "rows[0] is PASS and has no figures at run.json");
  EXPECT_EQ(refusal_with("/rows/0/candidate_figures_us/1", nullptr), "rows[0] is PASS and has no figures at run.json");
  EXPECT_EQ(refusal_with("/rows/0/pairs", 0), "rows[0] is PASS and has no figures at run.json");
  EXPECT_EQ(refusal_with("/rows/0/high_pct", 50), "rows[0] is PASS and may be slower by delta at run.json");
  EXPECT_EQ(refusal_with("/rows/0/high_pct", nullptr), "rows[0] is PASS and may be slower by delta at run.json");
  Result result = valid_result();
  result.rows.push_back(result.rows[0]);
  EXPECT_EQ(refusal(printed(result)), "rows[6] stands there twice at run.json");
}

TEST(GateJson, RefusesWhatNoGateWrites) {
  std::string text = printed(valid_result());
  text.replace(text.find("41.3"), 4, "1e999");
  EXPECT_EQ(refusal(text).substr(0, 31), "this is no result of ktune gate");
  const std::string deep = "{\"schema\": " + std::string(200000, '[') + std::string(200000, ']') + "}";
  EXPECT_EQ(refusal(deep).substr(0, 31), "this is no result of ktune gate");
}

TEST(GateFormats, AreFoundByName) {
  for (const Format<Result>& format : formats()) EXPECT_EQ(&find_format(formats(), format.name), &format);
  try {
    find_format(formats(), "jsn");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_EQ(error.message(), "unknown format 'jsn'; did you mean 'json'?");
    EXPECT_TRUE(error.hint().starts_with("formats: term, ") && error.hint().find(", junit") != std::string::npos);
  }
}

}  // namespace
}  // namespace ktune::verdict
