#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/fixture.h"
#include "report/report.h"

namespace ktune::report {
namespace {

DatasetBuilder swept() {
  DatasetBuilder builder;
  builder.session("2026-11-29T10:00:00Z");
  model::ProblemRecord& problem = builder.problem("rmsnorm", 4096, 60, 40);
  problem.rejected = {{"each thread needs at least one element", 4}, {"same variant as another", 12}};
  problem.reused = 2;
  builder.trial(variant_of(1024), 30.0);
  builder.failure(variant_of(256), model::Outcome::kWrongResult, "y: 3 of 4 differ");
  builder.failure(variant_of(128), model::Outcome::kCompileFailed, "no such intrinsic");
  builder.failure(variant_of(512), model::Outcome::kWrongResult, "y: 3 of 4 differ");
  builder.account();
  builder.measured("rmsnorm", 64, 60, 40, 3.0, "f32");
  return builder;
}

std::string text_of(const model::Dataset& dataset, const std::string& problem) {
  return print_term(explain(dataset, "rmsnorm", problem), 0, false);
}

TEST(Explain, CountsWhatBecameOfEveryPointAndGroupsEqualReasons) {
  EXPECT_EQ(text_of(swept().dataset, "M=4096 N=4096 bf16"),
            R"(rmsnorm M=4096 N=4096 bf16 on NVIDIA H200, session 1 of 2026-11-29T10:00:00Z
  20 points: 16 rejected, 1 measured, 3 failed, 0 not visited; 2 re-used from earlier sessions
  rejected before any was built
    12  same variant as another (60.0 %)
     4  each thread needs at least one element (20.0 %)
  CompileFailed
    1  no such intrinsic
       trial 3: BLOCK_SIZE=128,num_warps=4,LOADER=ldg
  WrongResult
    2  y: 3 of 4 differ
       trial 2: BLOCK_SIZE=256,num_warps=4,LOADER=ldg
       trial 4: BLOCK_SIZE=512,num_warps=4,LOADER=ldg
  fastest: 30.0 µs, trial 1: BLOCK_SIZE=1024,num_warps=4,LOADER=ldg
)");
}

TEST(Explain, GivesProgramsTheCountsTheRejectionsAndTheFailures) {
  const Document document = explain(swept().dataset, "rmsnorm", "M=4096 N=4096 bf16");
  const nlohmann::json json = nlohmann::json::parse(print_json(document, 0, false));
  EXPECT_EQ(json.at("schema"), "ktune.explain/1");
  ASSERT_EQ(json.at("problems").size(), 1U);
  EXPECT_EQ(json.at("problems")[0].at("points"), 20);
  EXPECT_EQ(json.at("problems")[0].at("failed"), 3);
  EXPECT_EQ(json.at("problems")[0].at("fastest_us"), 30.0);
  ASSERT_EQ(json.at("rejections").size(), 2U);
  EXPECT_EQ(json.at("rejections")[0].at("points"), 12);
  ASSERT_EQ(json.at("failures").size(), 3U);
  EXPECT_EQ(json.at("failures")[0].at("outcome"), "WrongResult");
  EXPECT_EQ(json.at("failures")[0].at("reason"), "y: 3 of 4 differ");
  EXPECT_EQ(print_csv(document, 0, false).substr(0, 54), "op,problem,outcome,reason,trial,second timing,variant\n");
}

TEST(Explain, TakesAShapeOrAnyWordsOfAProblem) {
  const model::Dataset dataset = swept().dataset;
  const std::string small = text_of(dataset, "64x4096");
  EXPECT_TRUE(small.starts_with("rmsnorm M=64 N=4096 f32 on ")) << small;
  EXPECT_NE(small.find("  1 point: 0 rejected, 1 measured, 0 failed, 0 not visited\n  nothing failed\n"),
            std::string::npos)
      << small;
  EXPECT_EQ(text_of(dataset, "f32"), small);
  EXPECT_EQ(text_of(dataset, "M=64,N=4096"), small);
  const std::string both = text_of(dataset, "N=4096");
  EXPECT_TRUE(both.ends_with("\n\n" + small)) << both;
  EXPECT_EQ(text_of(dataset, ""), both);
}

TEST(Explain, SaysWhatWasSweptWhenTheProblemWasNot) {
  const model::Dataset dataset = swept().dataset;
  const auto error_of = [&](const std::string& op, const std::string& problem) {
    try {
      explain(dataset, op, problem);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kNoData);
      return error.message() + "|" + error.hint();
    }
    return std::string();
  };
  EXPECT_EQ(error_of("rmsnrm", ""), "rmsnrm was never swept here; did you mean 'rmsnorm'?|swept were: rmsnorm");
  EXPECT_EQ(error_of("rmsnorm", "9x9"),
            "rmsnorm was never swept for '9x9'|swept were: M=4096 N=4096 bf16; M=64 N=4096 f32");
}

}  // namespace
}  // namespace ktune::report
