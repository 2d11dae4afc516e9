#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "base/process.h"
#include "model/json.h"
#include "verdict/fixture.h"
#include "verdict/print.h"

namespace ktune::verdict {
namespace {

using model::Json;

// What GitLab and Jenkins take from the file, by an XML parser that is not ours.
constexpr const char* kReader = R"(
import json, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
suite = root.find("testsuite")
cases = [[c.get("classname"), c.get("name"), c.get("file"), c.get("time"), [e.tag for e in c],
          [e.get("message") for e in c], [e.text for e in c]] for c in suite.iter("testcase")]
print(json.dumps({"root": root.tag, "suite": suite.attrib, "cases": cases,
                  "properties": {p.get("name"): p.get("value") for p in suite.iter("property")}}))
)";

Json read(const Result& result) {
  const std::string path = (std::filesystem::path(testing::TempDir()) /
                            (testing::UnitTest::GetInstance()->current_test_info()->name() + std::string(".xml")))
                               .string();
  write_file(path, print_junit(result, 0, false));
  const CommandResult said = run_command({"python3", "-c", kReader, path}, 60);
  EXPECT_EQ(said.status.code, 0) << said.err << print_junit(result, 0, false);
  return said.status.code == 0 ? Json::parse(said.out) : Json();
}

TEST(GateJunit, HasACaseAKernelWithItsEnd) {
  const Json json = read(sample_result());
  EXPECT_EQ(json["root"], "testsuites");
  EXPECT_EQ(json["suite"].dump(),
            R"({"name":"ktune gate","tests":"6","failures":"3","errors":"0","skipped":"1","time":"41.300",)"
            R"("timestamp":"2026-11-29T14:03:05"})");
  std::vector<std::string> ends;
  for (const Json& entry : json["cases"])
    ends.push_back(entry[0].get<std::string>() + " " + entry[4][0].get<std::string>());
  EXPECT_EQ(ends, (std::vector<std::string>{"copy system-out", "rmsnorm failure", "softmax failure", "silu system-out",
                                            "rope failure", "geglu skipped"}));
  const Json& regressed = json["cases"][1];
  EXPECT_EQ(regressed[1], "M=4096 N=4096 bf16");
  EXPECT_EQ(regressed[2], "kernels/rmsnorm.cu");
  EXPECT_EQ(regressed[3], "0.000019314");
  EXPECT_EQ(regressed[5][0], "REGRESSED: 2.14 % slower (18.91 → 19.31 µs; +1.90 to +2.38 %, delta 1 %)");
  EXPECT_EQ(regressed[6][0],
            "2.14 % slower (18.91 → 19.31 µs; +1.90 to +2.38 %, delta 1 %)\nBLOCK_SIZE=4096,num_warps=8");
  EXPECT_TRUE(json["cases"][4][3].is_null());
  EXPECT_EQ(json["properties"]["device"], "NVIDIA H200");
  EXPECT_EQ(json["properties"]["command"], "ktune gate --base main --new HEAD");
  EXPECT_EQ(json["properties"]["verdict"], "WRONG");
}

TEST(GateJunit, WhatIsLetByIsSkippedAndWhatWasNotJudgedIsAnError) {
  Result result = sample_result();
  result.pass_inconclusive = true;
  result.rows[5].blocks = true;
  result.rows[0].verdict = Verdict::kEnvironment;
  const Json json = read(result);
  EXPECT_EQ(json["cases"][2][4][0], "skipped");
  EXPECT_EQ(json["cases"][5][4][0], "error");
  EXPECT_EQ(json["cases"][0][4][0], "error");
  EXPECT_EQ(json["suite"]["failures"], "2");
  EXPECT_EQ(json["suite"]["errors"], "2");
}

TEST(GateJunit, AVerdictThatFailsIsNeverGreen) {
  Result result;
  result.mode = Mode::kPaired;
  EXPECT_EQ(read(result)["cases"][0].dump(),
            R"(["ktune gate","verdict",null,null,["error"],["NO DATA: 0 kernels"],[null]])");
  result.rows = {row_of("copy", "N=1", Verdict::kPass, 1, 1, 0, 0.1, 1)};
  result.verdict = Verdict::kEnvironment;
  result.notes = {"every kernel moved by 2 %"};
  const Json json = read(result);
  EXPECT_EQ(json["suite"]["errors"], "1");
  EXPECT_EQ(json["cases"][1][6][0], "every kernel moved by 2 %");
  result.verdict = Verdict::kPass;
  EXPECT_EQ(read(result)["cases"].size(), 1u);
}

TEST(GateJunit, AnyTextIsXml) {
  Result result = sample_result();
  result.rows = {untimed_row("a<b>&\"c'", "N=1", Verdict::kWrong,
                             "log:\n\x1b[31merror\x01\x7f ]]> \xff \xEF\xBF\xBE \xEF\xBF\xBF ü\tend")};
  const Json json = read(result);
  EXPECT_EQ(json["cases"][0][0], "a<b>&\"c'");
  EXPECT_EQ(json["cases"][0][5][0], "WRONG: log:\n[31merror ]]> \xEF\xBF\xBD   ü\tend");
}

}  // namespace
}  // namespace ktune::verdict
