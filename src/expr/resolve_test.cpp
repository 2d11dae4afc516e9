#include <cmath>

#include "expr/row_op_test.h"

namespace ktune::expr {
namespace {

TEST(ProblemScope, BindsDimsAttributesEnumeratedNamesAndTheDevice) {
  const Scope scope = problem_scope(row_op(), row_problem(), h200());
  EXPECT_EQ(bound(scope, "M"), 16);
  EXPECT_EQ(bound(scope, "N"), 1000);
  EXPECT_EQ(bound(scope, "mode"), 1);
  EXPECT_EQ(bound(scope, "gemma"), 2);
  EXPECT_EQ(bound(scope, "bulk"), 4);
  EXPECT_EQ(bound(scope, "sm"), 90);
  EXPECT_EQ(bound(scope, "sm_count"), 132);
  EXPECT_EQ(bound(scope, "l2_bytes"), 62914560);
  EXPECT_EQ(bound(scope, "smem_optin"), 232448);
  EXPECT_EQ(bound(scope, "max_threads"), 1024);
  EXPECT_EQ(bound(scope, "registers_per_sm"), 65536);
  EXPECT_EQ(bound(scope, "sizeof_scalar_t"), 2);
  EXPECT_EQ(bound(scope, "sizeof_weight_t"), 4);
  EXPECT_EQ(bound(scope, "sizeof_f64"), 8);
  EXPECT_EQ(bound(scope, "stride_x_0"), 1000);
  EXPECT_EQ(bound(scope, "stride_x_1"), 1);
  EXPECT_EQ(bound(scope, "offset_x"), 0);
  EXPECT_EQ(bound(scope, "BLOCK_SIZE"), -999);
  EXPECT_EQ(bound(scope, "stride_partial_0"), -999);
}

TEST(ProblemScope, AlignmentIsWhatBaseAndOuterStridesAllow) {
  model::Problem problem = row_problem();  // rows of 1000 bf16: 2000 bytes = 16 · 125
  EXPECT_EQ(bound(problem_scope(row_op(), problem, h200()), "align_x"), 16);
  EXPECT_EQ(bound(problem_scope(row_op(), problem, h200()), "align_w"), 256);
  problem.dims[1].second = 1023;
  EXPECT_EQ(bound(problem_scope(row_op(), problem, h200()), "align_x"), 2);
  problem.dims[1].second = 1024;
  EXPECT_EQ(bound(problem_scope(row_op(), problem, h200()), "align_x"), 256);
  problem.offsets = {{"x", 4}, {"w", 1}};
  EXPECT_EQ(bound(problem_scope(row_op(), problem, h200()), "align_x"), 8);
  EXPECT_EQ(bound(problem_scope(row_op(), problem, h200()), "align_w"), 4);
  problem.offsets.clear();
  problem.strides = {{"x", {0, 1}}};
  EXPECT_EQ(bound(problem_scope(row_op(), problem, h200()), "align_x"), 256);
  problem.strides = {{"x", {1024, 2}}};
  EXPECT_EQ(bound(problem_scope(row_op(), problem, h200()), "align_x"), 2);
}

TEST(DefaultVariant, FollowsTheRulesInWhateverOrderTheyNeed) {
  const model::OpSpec spec = row_op();
  model::Problem problem = row_problem();
  EXPECT_EQ(default_variant(spec, problem_scope(spec, problem, h200())).text(),
            "BLOCK_SIZE=1024,ROWS=1,LOADER=ldg,STAGES=1");
  problem.attrs = {{"mode", {2, "gemma"}}};
  problem.dims[1].second = 300;
  EXPECT_EQ(default_variant(spec, problem_scope(spec, problem, h200())).text(),
            "BLOCK_SIZE=512,ROWS=4,LOADER=bulk,STAGES=2");
}

TEST(DefaultVariant, SaysWhatIsWrongWithARule) {
  model::OpSpec spec = row_op();
  const Scope scope = problem_scope(spec, row_problem(), h200());
  spec.defaults[0].second = ex("100 + 1");
  EXPECT_EQ(message_of([&] { default_variant(spec, scope); }),
            "the default of 'BLOCK_SIZE' is 101, which is not one of its values");
  spec = row_op();
  spec.defaults[1].second = ex("4");
  EXPECT_EQ(message_of([&] { default_variant(spec, scope); }),
            "the default variant BLOCK_SIZE=1024,ROWS=4,LOADER=ldg,STAGES=1 breaks a constraint: many rows need a "
            "narrow block");
  spec = row_op();
  spec.defaults[0].second = ex("ROWS * 256");
  spec.defaults[1].second = ex("BLOCK_SIZE / 256");
  EXPECT_EQ(message_of([&] { default_variant(spec, scope); }),
            "the default of 'BLOCK_SIZE' depends on itself through other parameters");
  spec = row_op();
  spec.defaults.erase(spec.defaults.begin());
  EXPECT_EQ(message_of([&] { default_variant(spec, scope); }), "[default] gives parameter 'BLOCK_SIZE' no value");
}

TEST(DefaultVariant, IsKeptWhenTheParameterIsNarrowed) {
  model::OpSpec spec = row_op();
  spec.params[0].listed = spec.params[0].values;
  spec.params[0].values = {{256, ""}};
  EXPECT_EQ(default_variant(spec, problem_scope(spec, row_problem(), h200())).text(),
            "BLOCK_SIZE=1024,ROWS=1,LOADER=ldg,STAGES=1");
}

TEST(ResolveTensors, GivesShapesStridesStorageAndTolerances) {
  const model::OpSpec spec = row_op();
  model::Problem problem = row_problem();
  problem.strides = {{"x", {1008, 1}}};
  problem.offsets = {{"x", 3}};
  problem.inits = {{"x", {model::InitKind::kZeroRow, 0, 1}}};
  const auto plans = resolve_tensors(spec, problem, problem_scope(spec, problem, h200()), h200());
  ASSERT_EQ(plans.size(), 4U);
  EXPECT_EQ(plans[0].name, "x");
  EXPECT_EQ(plans[0].dtype, DType::kBf16);
  EXPECT_EQ(plans[0].shape, (std::vector<std::int64_t>{16, 1000}));
  EXPECT_EQ(plans[0].strides, (std::vector<std::int64_t>{1008, 1}));
  EXPECT_EQ(plans[0].offset, 3);
  EXPECT_EQ(plans[0].storage, 3 + 15 * 1008 + 999 + 1);
  EXPECT_EQ(plans[0].init.kind, model::InitKind::kZeroRow);
  EXPECT_EQ(plans[0].tolerance.rtol, 0.0);
  EXPECT_EQ(plans[1].dtype, DType::kF32);
  const double walk = std::ldexp(2 * std::sqrt(1000.0) * std::sqrt(2 * std::log(16000.0)) / 3, -24);
  EXPECT_NEAR(plans[2].tolerance.rtol, 4 * unit_roundoff(DType::kBf16) + walk, 1e-15);
  EXPECT_NEAR(plans[2].tolerance.atol, std::ldexp(4.0, -24) + walk, 1e-12);
  EXPECT_EQ(plans[3].tolerance.rtol, 1e-5);
  EXPECT_EQ(plans[3].tolerance.atol, 1e-6);
}

TEST(ResolveTensors, AnExpandedInputTakesOneRowOfStorage) {
  const model::OpSpec spec = row_op();
  model::Problem problem = row_problem();
  problem.strides = {{"x", {0, 1}}};
  EXPECT_EQ(resolve_tensors(spec, problem, problem_scope(spec, problem, h200()), h200())[0].storage, 1000);
}

TEST(ResolveTensors, RefusesSizesBeyondTheLimits) {
  model::OpSpec spec = row_op();
  model::Problem problem = row_problem();
  const auto resolve = [&] { resolve_tensors(spec, problem, problem_scope(spec, problem, h200()), h200()); };
  problem.dims = {{"M", 1LL << 31}, {"N", 1}};
  EXPECT_EQ(message_of(resolve), "tensor 'x': a size beyond 2^31 - 1 in 'M' where M = 2147483648");
  problem.dims = {{"M", -1}, {"N", 1}};
  EXPECT_EQ(message_of(resolve), "tensor 'x': a size below 1 in 'M' where M = -1");
  problem.dims = {{"M", 2000000000}, {"N", 2000000000}};
  EXPECT_NE(message_of(resolve).find("up to tensor 'x'; the device has 139.7 GiB"), std::string::npos);
  problem = row_problem();
  problem.strides = {{"x", {1LL << 62, 1}}};
  EXPECT_EQ(message_of(resolve), "tensor 'x' reaches beyond 2^63 bytes");
  problem.strides = {{"x", {1LL << 57, 1}}};
  EXPECT_NE(message_of(resolve).find("up to tensor 'x'; the device has"), std::string::npos);
  problem.strides = {{"x", {1LL << 58, 1}}, {"y", {1LL << 58, 1}}};
  EXPECT_EQ(message_of([&] { resolve_tensors(spec, problem, problem_scope(spec, problem, {}), {}); }),
            "rowop " + problem.text() + " needs more than 2^63 bytes");
  problem.strides = {{"x", {-1, 1}}};
  EXPECT_EQ(message_of(resolve), "tensor 'x': a stride of -1 is negative");
  problem.strides = {{"x", {1}}};
  EXPECT_EQ(message_of(resolve), "tensor 'x' has 2 dimensions and 1 strides");
  problem = row_problem();
  problem.offsets = {{"x", -5}};
  EXPECT_EQ(message_of(resolve), "tensor 'x': a negative offset");
  problem = row_problem();
  problem.dims = {{"M", 100000}, {"N", 500000}};  // 100 GB each, x and y
  EXPECT_EQ(message_of(resolve).substr(0, 40), "rowop M=100000 N=500000 bf16 weight_t=f3");
  EXPECT_NE(message_of(resolve).find("up to tensor 'y'; the device has 139.7 GiB"), std::string::npos);
}

TEST(ResolveVariant, BindsParametersAndPicksTheLaunchesThatApply) {
  const model::OpSpec spec = row_op();
  model::Problem problem = row_problem();
  problem.scalars = {{"eps", 0.5}};
  const Scope scope = problem_scope(spec, problem, h200());
  const model::VariantPlan one = require_variant(spec, problem, scope, variant(1));
  EXPECT_EQ(one.variant, "BLOCK_SIZE=512,ROWS=1,LOADER=ldg,STAGES=1");
  ASSERT_EQ(one.launches.size(), 1U);
  const model::LaunchPlan& plan = one.launches[0];
  EXPECT_EQ(plan.kernel, "rowop");
  EXPECT_EQ(plan.grid, (std::array<std::int64_t, 3>{16, 1, 1}));
  EXPECT_EQ(plan.block, (std::array<std::int64_t, 3>{64, 1, 1}));
  EXPECT_EQ(plan.cluster, (std::array<std::int64_t, 3>{1, 1, 1}));
  EXPECT_EQ(plan.smem_bytes, 128);
  ASSERT_EQ(plan.args.size(), 8U);
  EXPECT_EQ(plan.args[4].kind, model::ArgPlan::Kind::kTensor);
  EXPECT_EQ(plan.args[4].tensor, "partial");
  EXPECT_EQ(plan.args[6].kind, model::ArgPlan::Kind::kInteger);
  EXPECT_EQ(plan.args[6].integer, 2000);
  EXPECT_EQ(plan.args[7].kind, model::ArgPlan::Kind::kScalar);
  EXPECT_EQ(plan.args[7].dtype, DType::kF32);
  EXPECT_EQ(plan.args[7].real, 0.5);
  const model::VariantPlan four = resolve_variant(spec, problem, scope, variant(4)).value();
  ASSERT_EQ(four.launches.size(), 2U);
  EXPECT_EQ(four.launches[0].grid[0], 4);
  ASSERT_EQ(four.scratch.size(), 1U);
  EXPECT_EQ(four.scratch[0].shape, (std::vector<std::int64_t>{4, 1000}));
  EXPECT_EQ(four.scratch[0].storage, 4000);
}

TEST(ResolveProblem, HasTheReferenceAndItsSeed) {
  const model::OpSpec spec = row_op();
  const model::Problem problem = row_problem();
  const model::ProblemPlan plan = resolve_problem(spec, problem, problem_scope(spec, problem, h200()), h200(), 77);
  EXPECT_EQ(plan.op, "rowop");
  EXPECT_EQ(plan.problem, problem.text());
  EXPECT_EQ(plan.tensors.size(), 4U);
  ASSERT_EQ(plan.reference.size(), 1U);
  EXPECT_EQ(plan.reference[0].kernel, "rowop_reference");
  EXPECT_EQ(plan.reference[0].grid[0], 16);
  EXPECT_TRUE(plan.reference_scratch.empty());
  EXPECT_EQ(plan.seed, 77U);
}

TEST(ResolveProblem, NeedsAReferenceLaunchThatApplies) {
  model::OpSpec spec = row_op();
  const model::Problem problem = row_problem();
  spec.reference[0].when = ex("M > 16");
  EXPECT_EQ(message_of([&] { resolve_problem(spec, problem, problem_scope(spec, problem, h200()), h200(), 1); }),
            "no reference launch of rowop applies to " + problem.text());
}

TEST(ResolveCost, EvaluatesEachPart) {
  const model::OpSpec spec = row_op();
  const model::Cost cost = resolve_cost(spec, problem_scope(spec, row_problem(), h200()));
  EXPECT_EQ(cost.bytes_read, 16 * 1000 * 2 + 1000 * 4);
  EXPECT_EQ(cost.bytes_written, 16 * 1000 * 2 + 4 * 16);
  EXPECT_EQ(cost.scratch_bytes, 0);
  EXPECT_EQ(cost.flops, 32000);
  EXPECT_EQ(cost.bytes(), 36000 + 32064);
}

TEST(Macros, AreParametersConstantsTypesAndStaticDims) {
  const model::Macros expected{
      {"BLOCK_SIZE", "512"}, {"ROWS", "1"},    {"LOADER", "3"},     {"LOADER_ldg", "3"}, {"LOADER_bulk", "4"},
      {"STAGES", "1"},       {"mode", "1"},    {"mode_llama", "1"}, {"mode_gemma", "2"}, {"scalar_t", "__nv_bfloat16"},
      {"weight_t", "float"}, {"DIM_N", "1000"}};
  EXPECT_EQ(macros_of(row_op(), row_problem(), variant(1)), expected);
}

TEST(Macros, OfANarrowedParameterStillNameEveryValue) {
  model::OpSpec spec = row_op();
  spec.params[2].listed = spec.params[2].values;
  spec.params[2].values = {{3, "ldg"}};
  EXPECT_EQ(macros_of(spec, row_problem(), variant(1)), macros_of(row_op(), row_problem(), variant(1)));
}

TEST(ResolveProblem, KnowsTheLeastTimeOfAColdCall) {
  const model::OpSpec spec = row_op();
  const model::Problem problem = row_problem();
  model::DeviceFacts facts = h200();
  facts.l2_bytes = 0;
  facts.spec_gbps = 4800.0;
  const auto least_us = [&] {
    return resolve_problem(spec, problem, problem_scope(spec, problem, facts), facts, 0).least_cold_us;
  };
  const model::Cost cost = resolve_cost(spec, problem_scope(spec, problem, facts));
  EXPECT_DOUBLE_EQ(least_us(), static_cast<double>(cost.bytes()) / 4.8e6);
  facts.l2_bytes = std::int64_t{1} << 30;
  EXPECT_DOUBLE_EQ(least_us(), static_cast<double>(cost.bytes_read) / 4.8e6) << "all that it writes fits into L2";
  facts.spec_gbps = 0.0;
  EXPECT_EQ(least_us(), 0.0);
  facts.spec_gbps = 4800.0;
  facts.kind = "cpu";
  EXPECT_EQ(least_us(), 0.0);
}

TEST(Tolerance, ComesFromTheDtypesAndTheReductionLength) {
  model::OpSpec spec;
  const model::TensorSpec out = tensor("y", Role::kOut, {"N"}, {"1"}, "f32");
  const double u32 = std::ldexp(1.0, -24);
  EXPECT_NEAR(tolerance_of(spec, out, DType::kF32, DType::kF32, 10000, 1).rtol, u32 * (4 + 2 * 100), 1e-12);
  EXPECT_NEAR(tolerance_of(spec, out, DType::kF64, DType::kF64, 10000, 1).rtol, std::ldexp(4 + 2 * 100.0, -53), 1e-20);
  EXPECT_NEAR(tolerance_of(spec, out, DType::kF16, DType::kF32, 1, 1).rtol, std::ldexp(4.0, -11) + 2 * u32, 1e-12);
  EXPECT_NEAR(tolerance_of(spec, out, DType::kF16, DType::kF32, 1, 1).atol, 6 * u32,
              1e-12);  // a small f16 is exact too
  EXPECT_EQ(tolerance_of(spec, out, DType::kI32, DType::kF32, 10000, 1).rtol, 0.0);
  EXPECT_EQ(tolerance_of(spec, out, DType::kI32, DType::kF32, 10000, 1).atol, 0.0);
  EXPECT_EQ(tolerance_of(spec, out, DType::kF32, DType::kF32, 1, 1).atol, u32 * 6);
}

TEST(Tolerance, GrowsWithTheNumberOfOutputsButItsRootMeanSquareDoesNot) {
  const model::OpSpec spec = row_op();
  const model::TensorSpec& out = spec.tensors[2];
  const auto few = tolerance_of(spec, out, DType::kF32, DType::kF32, 100, 90);
  const auto many = tolerance_of(spec, out, DType::kF32, DType::kF32, 100, 1 << 24);
  EXPECT_NEAR(many.atol / std::ldexp(1.0, -24), 4 + 20 * std::sqrt(2 * std::log(16777216.0)) / 3, 1e-9);
  EXPECT_NEAR(few.atol / std::ldexp(1.0, -24), 24.0, 1e-9);
  EXPECT_EQ(few.rms, kRmsShare);
  EXPECT_EQ(many.rms, kRmsShare);
  EXPECT_EQ(many.unit, 1.0);
}

TEST(Tolerance, OfAnF64OutputIsNoTighterThanTheF32SumsBehindIt) {
  model::OpSpec spec;
  const model::TensorSpec out = tensor("rstd", Role::kOut, {"N"}, {"1"}, "f64");
  EXPECT_NEAR(tolerance_of(spec, out, DType::kF64, DType::kF32, 100, 1).rtol, std::ldexp(4 + 2 * 10.0, -24), 1e-12);
}

TEST(Tolerance, OfASumGrowsWithItsTermsWhereTheyCancel) {
  model::OpSpec spec;
  spec.verify.sums = {"y"};
  const model::TensorSpec out = tensor("y", Role::kOut, {"N"}, {"1"}, "f32");
  const auto tolerance = tolerance_of(spec, out, DType::kF32, DType::kF32, 10000, 1);
  EXPECT_NEAR(tolerance.rtol, std::ldexp(4 + 2 * 100.0, -24), 1e-12);
  EXPECT_NEAR(tolerance.atol, std::ldexp(4 + 2 * 10000.0, -24), 1e-12);
}

TEST(Accumulator, IsF64OnlyForF64Problems) {
  model::OpSpec spec;
  model::Problem problem;
  problem.types = {{"scalar_t", "bf16"}, {"stat_t", "f64"}};
  EXPECT_EQ(accumulator_of(spec, problem), DType::kF32);
  problem.types = {{"scalar_t", "f64"}, {"weight_t", "f32"}};
  EXPECT_EQ(accumulator_of(spec, problem), DType::kF64);
  problem.types.clear();
  spec.tensors = {tensor("x", Role::kIn, {"N"}, {"1"}, "f64"), tensor("y", Role::kOut, {"N"}, {"1"}, "f32")};
  EXPECT_EQ(accumulator_of(spec, problem), DType::kF32);
  spec.tensors.pop_back();
  EXPECT_EQ(accumulator_of(spec, problem), DType::kF64);
}

}  // namespace
}  // namespace ktune::expr
