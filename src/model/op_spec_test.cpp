#include "model/op_spec.h"

#include <gtest/gtest.h>

namespace ktune::model {
namespace {

Problem rmsnorm() {
  Problem problem;
  problem.op = "rmsnorm";
  problem.dims = {{"M", 4096}, {"N", 1024}};
  problem.types = {{"scalar_t", "bf16"}, {"weight_t", "bf16"}};
  return problem;
}

TEST(ProblemText, NamesSizesAndTheFirstType) {
  EXPECT_EQ(rmsnorm().text(), "M=4096 N=1024 bf16");
  EXPECT_EQ(rmsnorm().dtype(), "bf16");
}

TEST(ProblemText, FurtherTypesAppearWhereTheyDiffer) {
  Problem problem = rmsnorm();
  problem.types[1].second = "f32";
  EXPECT_EQ(problem.text(), "M=4096 N=1024 bf16 weight_t=f32");
}

TEST(ProblemText, AttributesAppearByNameOrNumber) {
  Problem problem = rmsnorm();
  problem.attrs = {{"cast_mode", Value{1, "gemma"}}, {"ignore_index", Value{-100, ""}}};
  EXPECT_EQ(problem.text(), "M=4096 N=1024 bf16 cast_mode=gemma ignore_index=-100");
}

TEST(ProblemText, EveryOverrideIsAppended) {
  Problem problem = rmsnorm();
  problem.strides = {{"x", {5000, 1}}};
  problem.offsets = {{"x", 1}};
  problem.scalars = {{"eps", 0.1}};
  problem.inits = {{"x", InitSpec{InitKind::kZeroRow}}, {"w", InitSpec{InitKind::kUniform, -1, 1}}};
  EXPECT_EQ(problem.text(),
            "M=4096 N=1024 bf16 x:strides=5000,1 x:offset=1 eps=0.1 w:init=uniform(-1,1) x:init=zero_row");
}

TEST(ProblemText, DoesNotDependOnTheOrderOverridesWereTypedIn) {
  Problem one = rmsnorm();
  one.strides = {{"x", {5000, 1}}, {"y", {6000, 1}}};
  one.scalars = {{"eps", 0.1}, {"alpha", 2}};
  Problem other = rmsnorm();
  other.strides = {{"y", {6000, 1}}, {"x", {5000, 1}}};
  other.scalars = {{"alpha", 2}, {"eps", 0.1}};
  EXPECT_EQ(one.text(), other.text());
}

TEST(ProblemText, ScalarsThatDifferInTheLastBitDiffer) {
  Problem one = rmsnorm();
  one.scalars = {{"eps", 0.1}};
  Problem other = rmsnorm();
  other.scalars = {{"eps", 0.1 + 1e-17 + 1.4e-17}};
  ASSERT_NE(one.scalars[0].second, other.scalars[0].second);
  EXPECT_NE(one.text(), other.text());
}

TEST(ProblemText, WeightIsNoPartOfIt) {
  Problem problem = rmsnorm();
  problem.weight = 5.0;
  EXPECT_EQ(problem.text(), rmsnorm().text());
}

TEST(ProblemText, AnOpWithoutTypesHasNone) {
  Problem problem;
  problem.dims = {{"N", 7}};
  EXPECT_EQ(problem.text(), "N=7");
  EXPECT_EQ(problem.dtype(), "-");
}

TEST(InitText, IsWhatASpecWouldSay) {
  EXPECT_EQ((InitSpec{InitKind::kNormal}.text()), "normal");
  EXPECT_EQ((InitSpec{InitKind::kNormal, 0, 2}.text()), "normal(0,2)");
  EXPECT_EQ((InitSpec{InitKind::kUniform}.text()), "uniform");
  EXPECT_EQ((InitSpec{InitKind::kRandint, 0, 100}.text()), "randint(0,100)");
  EXPECT_EQ((InitSpec{InitKind::kConstant, 0.5}.text()), "constant(0.5)");
  EXPECT_EQ((InitSpec{InitKind::kSpecial}.text()), "special");
}

TEST(VariantText, ListsEveryParameterInOrder) {
  Variant variant{{{"BLOCK_SIZE", Value{4096, ""}}, {"LOADER", Value{2, "tma"}}}};
  EXPECT_EQ(variant.text(), "BLOCK_SIZE=4096,LOADER=tma");
  EXPECT_EQ(Variant{}.text(), "");
}

}  // namespace
}  // namespace ktune::model
