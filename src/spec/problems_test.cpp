#include <algorithm>

#include "spec/fixture_test.h"

namespace ktune::spec {
namespace {

class Problems : public SpecFolder {
 protected:
  void SetUp() override {
    SpecFolder::SetUp();
    spec_ = load(kSmallSpec);
  }

  static std::vector<std::string> texts(const std::vector<model::Problem>& problems) {
    std::vector<std::string> result;
    for (const model::Problem& problem : problems) result.push_back(problem.text());
    return result;
  }

  std::vector<std::string> select(std::vector<std::string> shapes, std::vector<std::string> dtypes = {},
                                  const std::string& use = "sweep") const {
    ProblemRequest request;
    request.shapes = std::move(shapes);
    request.dtypes = std::move(dtypes);
    request.use = use;
    return texts(select_problems(spec_, request));
  }

  std::string select_error(std::vector<std::string> shapes, std::vector<std::string> dtypes = {},
                           const std::string& use = "sweep") const {
    return error_of([&] { select(std::move(shapes), std::move(dtypes), use); });
  }

  model::OpSpec spec_;
};

using Strings = std::vector<std::string>;

TEST_F(Problems, WithoutTypesStandForEveryDtypeOfTheFirstTypeMacro) {
  ProblemRequest request;
  const std::vector<model::Problem> problems = select_problems(spec_, request);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].types,
            (std::vector<std::pair<std::string, std::string>>{{"weight_t", "f32"}, {"acc_t", "f32"}}));
  EXPECT_EQ(problems[1].types,
            (std::vector<std::pair<std::string, std::string>>{{"weight_t", "bf16"}, {"acc_t", "bf16"}}));
  ASSERT_EQ(problems[0].attrs.size(), 1U);
  EXPECT_EQ(problems[0].attrs[0].second, (model::Value{2, "gemma"}));
  EXPECT_EQ(problems[0].op, "rowop");
}

TEST_F(Problems, WithTypesKeepTheirOwnUnlessADtypeIsAskedFor) {
  ProblemRequest request;
  request.use = "cpu";
  std::vector<model::Problem> problems = select_problems(spec_, request);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].types[0].second, "bf16");
  EXPECT_EQ(problems[0].types[1].second, "f64");
  EXPECT_EQ(problems[0].weight, 2.5);
  request.dtypes = {"f32"};
  problems = select_problems(spec_, request);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].types[0].second, "f32");
  EXPECT_EQ(problems[0].types[1].second, "f64");
}

TEST_F(Problems, ShapesTimesDtypes) {
  EXPECT_EQ(select({"16x32", "N=4,M=2"}).size(), 2U);
  ProblemRequest request;
  request.shapes = {"16x32", "N=4,M=2", "1Kx2k"};
  request.dtypes = {"bf16", "weight_t=f32,acc_t=f64"};
  const std::vector<model::Problem> problems = select_problems(spec_, request);
  ASSERT_EQ(problems.size(), 6U);
  using Dims = std::vector<std::pair<std::string, std::int64_t>>;
  EXPECT_EQ(problems[0].dims, (Dims{{"M", 16}, {"N", 32}}));
  EXPECT_EQ(problems[2].dims, (Dims{{"M", 2}, {"N", 4}}));
  EXPECT_EQ(problems[4].dims, (Dims{{"M", 1024}, {"N", 2048}}));
  EXPECT_EQ(problems[0].types[1].second, "bf16");
  EXPECT_EQ(problems[1].types[0].second, "f32");
  EXPECT_EQ(problems[1].types[1].second, "f64");
}

TEST_F(Problems, TheSameProblemIsTakenOnce) { EXPECT_EQ(select({"16x32", "M=16,N=32"}, {"bf16", "bf16"}).size(), 1U); }

TEST_F(Problems, AttributesAreTakenFromTheRequest) {
  ProblemRequest request;
  request.shapes = {"2x2"};
  request.attrs = {{"mode", "llama"}};
  EXPECT_EQ(select_problems(spec_, request)[0].attrs[0].second, (model::Value{1, "llama"}));
  request.attrs = {{"modes", "llama"}};
  EXPECT_EQ(error_of([&] { select_problems(spec_, request); }), "rowop has no attribute 'modes'; did you mean 'mode'?");
}

TEST_F(Problems, WrongRequestsSayWhatIsWrong) {
  EXPECT_EQ(select_error({"4096"}), "shape '4096' has 1 size; rowop takes 2");
  EXPECT_EQ(select_error({"4x4x4"}), "shape '4x4x4' has 3 sizes; rowop takes 2");
  EXPECT_EQ(select_error({"0x4"}), "M = 0: a size is at least 1");
  EXPECT_EQ(select_error({"4x4G"}), "N = 4294967296: a size is at most 2^31 - 1");
  EXPECT_EQ(select_error({"M=4,K=4"}), "rowop has no dim 'K'");
  EXPECT_EQ(select_error({"M=4"}), "rowop needs a size for dim 'N'");
  EXPECT_EQ(select_error({"M=4,M=4"}), "shape 'M=4,M=4' gives M twice");
  EXPECT_EQ(select_error({"M=4,5"}), "shape 'M=4,5': '5' is not DIM=SIZE");
  EXPECT_NE(select_error({"4xfour"}).find("the size N in shape '4xfour'"), std::string::npos);
  EXPECT_EQ(select_error({"4x4"}, {"f16"}), "rowop does not offer 'f16' for weight_t; did you mean 'bf16'?");
  EXPECT_EQ(select_error({"4x4"}, {"scalar_t=f32"}), "rowop has no type 'scalar_t'");
  EXPECT_EQ(select_error({"4x4"}, {"f32,bf16"}), "dtype 'f32,bf16' gives weight_t twice");
  EXPECT_EQ(select_error({"4x4"}, {"weight_t=f32,acc_t=bf16"}), "rowop does not offer 'bf16' for acc_t here");
  EXPECT_EQ(select_error({}, {}, "bench"), "rowop has no problem for 'bench'");
}

TEST_F(Problems, AWrittenTensorHasNoStrideOfZero) {
  model::Problem problem;
  problem.dims = {{"M", 4}, {"N", 4}};
  problem.strides = {{"x", {0, 2, 1}}};
  EXPECT_EQ(complete_problem(spec_, problem).strides[0].second[0], 0);
  problem.strides = {{"y", {0}}};
  EXPECT_EQ(error_of([&] { complete_problem(spec_, problem); }), "tensor 'y' is written: its strides are not 0");
}

TEST_F(Problems, NarrowingKeepsTheListedValuesInTheirOrder) {
  const model::OpSpec narrowed = narrow(spec_, {"ROWS=4,1", "LOADER=bulk"});
  EXPECT_EQ(narrowed.params[1].values, (std::vector<model::Value>{{1, ""}, {4, ""}}));
  EXPECT_EQ(narrowed.params[1].all_values(), spec_.params[1].values);
  EXPECT_EQ(narrowed.params[0].values, (std::vector<model::Value>{{4, "bulk"}}));
  EXPECT_EQ(narrow(narrowed, {"ROWS=4"}).params[1].listed, spec_.params[1].values);
  EXPECT_EQ(narrow(spec_, {"ROWS=1", "ROWS=2"}).params[1].values.size(), 2U);
  EXPECT_EQ(narrow(spec_, {}).params[1].listed.size(), 0U);
  EXPECT_EQ(error_of([&] { narrow(spec_, {"ROW=1"}); }), "rowop has no parameter 'ROW'; did you mean 'ROWS'?");
  EXPECT_EQ(error_of([&] { narrow(spec_, {"ROWS=3"}); }), "'3' is not a value of ROWS");
  EXPECT_EQ(error_of([&] { narrow(spec_, {"LOADER=bulc"}); }), "'bulc' is not a value of LOADER; did you mean 'bulk'?");
  EXPECT_EQ(error_of([&] { narrow(spec_, {"ROWS"}); }), "'ROWS' is not NAME=VALUE,VALUE,…");
}

TEST_F(Problems, AVariantTakesWhatItLeavesOutFromTheFallback) {
  const model::Variant fallback{{{"LOADER", {3, "ldg"}}, {"ROWS", {1, ""}}}};
  EXPECT_EQ(parse_variant(spec_, "ROWS=4,LOADER=bulk", {}).text(), "LOADER=bulk,ROWS=4");
  EXPECT_EQ(parse_variant(spec_, "LOADER=bulk", fallback).text(), "LOADER=bulk,ROWS=1");
  EXPECT_EQ(parse_variant(spec_, "", fallback), fallback);
  EXPECT_EQ(error_of([&] { parse_variant(spec_, "ROWS=4", {}); }), "variant 'ROWS=4' gives LOADER no value");
  EXPECT_EQ(error_of([&] { parse_variant(spec_, "ROWS=4,ROWS=1", fallback); }),
            "variant 'ROWS=4,ROWS=1' gives ROWS twice");
  EXPECT_EQ(error_of([&] { parse_variant(spec_, "ROWS=9", fallback); }), "'9' is not a value of ROWS");
  EXPECT_EQ(error_of([&] { parse_variant(spec_, "ROWS", fallback); }), "'ROWS' is not NAME=VALUE");
}

TEST_F(Problems, APlanRunsOpsOverProblems) {
  write(kSmallSpec);
  const std::string path = write(
      "summary = \"nightly\"\n"
      "[[run]]\n"
      "config = \"op.toml\"\n"
      "shapes = [\"8x8\", \"M=4,N=2\"]\n"
      "dtypes = [\"bf16\"]\n"
      "params = { ROWS = [4, 2], LOADER = \"bulk\" }\n"
      "attrs = { mode = \"llama\" }\n"
      "weight = 2\n"
      "[[run]]\n"
      "config = \"op.toml\"\n"
      "use = \"cpu\"\n"
      "weight = 2\n",
      "plan.toml");
  const std::vector<PlanEntry> plan = load_plan(path);
  ASSERT_EQ(plan.size(), 2U);
  EXPECT_EQ(plan[0].problems.size(), 2U);
  EXPECT_EQ(plan[0].problems[0].weight, 2.0);
  EXPECT_EQ(plan[0].problems[0].attrs[0].second.name, "llama");
  EXPECT_EQ(plan[0].spec.params[1].values, (std::vector<model::Value>{{2, ""}, {4, ""}}));
  EXPECT_EQ(plan[0].spec.params[0].values.size(), 1U);
  EXPECT_EQ(plan[1].problems.size(), 1U);
  EXPECT_EQ(plan[1].problems[0].weight, 5.0);
}

TEST_F(Problems, APlanSaysWhereItIsWrong) {
  write(kSmallSpec);
  const auto plan_error = [&](const std::string& text) {
    return error_of([&] { load_plan(write(text, "plan.toml")); });
  };
  EXPECT_EQ(plan_error("[[run]]\n"), "plan.toml:1:1 [[run]] needs 'op'");
  EXPECT_EQ(plan_error("x = 1\n"), "plan.toml:1:1 the file needs 'run'");
  EXPECT_EQ(plan_error("[[run]]\nop = \"no_such_op\"\n"), "plan.toml:2:7 unknown op 'no_such_op'");
  EXPECT_EQ(plan_error("[[run]]\nconfig = \"op.toml\"\nparams = { ROWS = [3] }\n"),
            "plan.toml:3:12 '3' is not a value of ROWS");
  EXPECT_EQ(plan_error("[[run]]\nconfig = \"op.toml\"\nshapes = [\"7\"]\n"),
            "plan.toml:1:1 shape '7' has 1 size; rowop takes 2");
  EXPECT_EQ(plan_error("[[run]]\nconfig = \"op.toml\"\nshape = [\"7x7\"]\n"),
            "plan.toml:3:1 [[run]] has no key 'shape'; did you mean 'shapes'?");
  EXPECT_EQ(plan_error("[[run]]\nconfig = \"none.toml\"\n").substr(0, 14), "plan.toml:2:11");
}

TEST_F(Problems, AnUnknownShippedOpIsRefused) {
  EXPECT_EQ(error_of([] { load_shipped_op("no_such_op"); }), "unknown op 'no_such_op'");
}

}  // namespace
}  // namespace ktune::spec
