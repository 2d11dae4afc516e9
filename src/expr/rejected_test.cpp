// What rejects a variant, what ends the command, and lets in all that is resolved.

#include <functional>

#include "expr/row_op_test.h"

namespace ktune::expr {
namespace {

TEST(ResolveVariant, RejectsAVariantWhoseLaunchesCannotBe) {
  const model::Problem problem = row_problem();
  const Scope scope = problem_scope(row_op(), problem, h200());
  // "REASON; DETAIL" of what variant(1) becomes when one thing of its launch changes.
  const auto rejected = [&](const std::function<void(model::OpSpec&)>& change) {
    model::OpSpec spec = row_op();
    change(spec);
    const auto plan = resolve_variant(spec, problem, scope, variant(1));
    if (plan) return std::string("no failure");
    EXPECT_EQ(plan.error().outcome, model::Outcome::kRejected);
    return plan.error().reason + "; " + plan.error().detail;
  };
  EXPECT_EQ(rejected([](model::OpSpec& spec) { spec.launches[0].grid[0] = ex("ROWS - 1"); }),
            "a grid size below 1 in 'ROWS - 1'; ROWS = 1");
  EXPECT_EQ(rejected([](model::OpSpec& spec) { spec.launches[0].grid[0] = ex("ROWS << 31"); }),
            "a grid size beyond 2^31 - 1 in 'ROWS << 31'; ROWS = 1");
  EXPECT_EQ(rejected([](model::OpSpec& spec) { spec.launches[0].grid[0] = ex("(ROWS << 31) - 1"); }), "no failure");
  EXPECT_EQ(rejected([](model::OpSpec& spec) { spec.launches[0].block[0] = ex("64 / (ROWS - 1)"); }),
            "division by zero in '64 / (ROWS - 1)'; ROWS = 1");
  EXPECT_EQ(rejected([](model::OpSpec& spec) { spec.launches[0].cluster = exs({"0"}); }),
            "a cluster size below 1 in '0'; ");
  EXPECT_EQ(rejected([](model::OpSpec& spec) { spec.launches[0].smem = ex("0 - 4"); }),
            "shared memory below 0 in '0 - 4'; ");
  EXPECT_EQ(rejected([](model::OpSpec& spec) { spec.launches[0].args[6] = ex("N << 60"); }),
            "overflow of 64 bits in 'N << 60'; N = 1000");
  EXPECT_EQ(rejected([](model::OpSpec& spec) { spec.launches[1].when = ex("8 % (ROWS - 1)"); }),
            "modulo by zero in '8 % (ROWS - 1)'; ROWS = 1");
  EXPECT_EQ(rejected([](model::OpSpec& spec) { spec.tensors[4].shape[0] = ex("ROWS - 2"); }),
            "tensor 'partial': a size below 1 in 'ROWS - 2'; ROWS = 1");
  EXPECT_EQ(rejected([](model::OpSpec& spec) { spec.tensors[4].shape[0] = ex("ROWS - 1"); }),
            "tensor 'partial': a size below 1 in 'ROWS - 1'; ROWS = 1");
  EXPECT_EQ(rejected([](model::OpSpec& spec) { spec.tensors[4].shape[0] = ex("M << 30"); }),
            "tensor 'partial': a size beyond 2^31 - 1 in 'M << 30'; M = 16");
  EXPECT_EQ(rejected([](model::OpSpec& spec) { spec.tensors[4].strides[0] = ex("M / (ROWS - 1)"); }),
            "division by zero in 'M / (ROWS - 1)'; M = 16, ROWS = 1");
  EXPECT_EQ(rejected([](model::OpSpec& spec) { spec.tensors[4].strides[0] = ex("N << 50"); }),
            "tensor 'partial' reaches beyond 2^63 bytes; ");
  EXPECT_EQ(rejected([](model::OpSpec& spec) { spec.tensors[4].strides[0] = ex("ROWS - 3"); }),
            "tensor 'partial': a negative stride in 'ROWS - 3'; ROWS = 1");
}

TEST(ResolveVariant, TellsTheFirstOfSeveralFailures) {
  model::OpSpec spec = row_op();
  spec.launches[0].grid[0] = ex("M / (ROWS - 1)");
  spec.launches[0].block[0] = ex("M % (ROWS - 1)");
  const model::Problem problem = row_problem();
  const auto plan = resolve_variant(spec, problem, problem_scope(spec, problem, h200()), variant(1));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().reason, "division by zero in 'M / (ROWS - 1)'");
}

TEST(ResolveVariant, ThrowsForAVariantThatMustRunAndForAHoleInTheSpec) {
  model::OpSpec spec = row_op();
  const model::Problem problem = row_problem();
  const Scope scope = problem_scope(spec, problem, h200());
  spec.launches[0].grid[0] = ex("ROWS - 1");
  EXPECT_EQ(message_of([&] { require_variant(spec, problem, scope, variant(1)); }),
            "a grid size below 1 in 'ROWS - 1' where ROWS = 1");
  spec.launches[0].grid[0] = ex("ROW");
  EXPECT_EQ(message_of([&] { static_cast<void>(resolve_variant(spec, problem, scope, variant(1))); }),
            "unknown name 'ROW'; did you mean 'ROWS'?");
  spec.launches[0].when = ex("0");
  EXPECT_EQ(message_of([&] { static_cast<void>(resolve_variant(spec, problem, scope, variant(1))); }),
            "no launch of rowop applies to BLOCK_SIZE=512,ROWS=1,LOADER=ldg,STAGES=1");
}

TEST(ResolveProblem, AFailureInItIsAnErrorOfTheSpec) {
  model::OpSpec spec = row_op();
  const model::Problem problem = row_problem();
  const Scope scope = problem_scope(spec, problem, h200());
  spec.reference[0].grid[0] = ex("M / (N - 1000)");
  EXPECT_EQ(message_of([&] { resolve_problem(spec, problem, scope, h200(), 1); }),
            "division by zero in 'M / (N - 1000)' where M = 16, N = 1000");
  spec = row_op();
  spec.cost.reads = ex("M << 60");
  EXPECT_EQ(message_of([&] { resolve_cost(spec, scope); }), "overflow of 64 bits in 'M << 60' where M = 16");
  spec = row_op();
  spec.constraints[0].expr = ex("8 / (ROWS - 1)");
  EXPECT_EQ(message_of([&] { default_variant(spec, scope); }), "division by zero in '8 / (ROWS - 1)' where ROWS = 1");
}

model::OpSpec with_lets() {
  model::OpSpec spec = row_op();
  spec.lets = {{"row_bytes", ex("N * sizeof_scalar_t")},
               {"row_groups", ex("cdiv(M, ROWS)")},
               {"group_bytes", ex("row_groups * row_bytes")}};
  return spec;
}

TEST(Lets, AreUsableInEveryExpression) {
  model::OpSpec spec = with_lets();
  spec.tensors[0].strides[0] = ex("row_bytes / sizeof_scalar_t + 8");
  spec.tensors[4].shape[0] = ex("row_groups");
  spec.params[3].when = ex("LOADER != ldg && row_bytes > 8");
  spec.constraints[0].expr = ex("row_groups <= 16");
  spec.defaults[0].second = ex("clamp(next_pow2(row_bytes / 2), 256, 1024)");
  spec.launches[0].grid[0] = ex("row_groups");
  spec.launches[0].args[6] = ex("group_bytes");
  spec.launches[0].smem = ex("row_bytes");
  spec.launches[1].when = ex("row_groups < M");
  spec.cost.reads = ex("M * row_bytes");
  const model::Problem problem = row_problem();
  const Scope scope = problem_scope(spec, problem, h200());
  EXPECT_EQ(bound(scope, "stride_x_0"), 1008);
  EXPECT_EQ(default_variant(spec, scope).text(), "BLOCK_SIZE=1024,ROWS=1,LOADER=ldg,STAGES=1");
  EXPECT_EQ(resolve_cost(spec, scope).bytes_read, 32000);
  const model::VariantPlan plan = require_variant(spec, problem, scope, variant(4));
  EXPECT_EQ(plan.launches[0].grid[0], 4);
  EXPECT_EQ(plan.launches[0].args[6].integer, 4 * 2000);
  EXPECT_EQ(plan.launches[0].smem_bytes, 2000);
  EXPECT_EQ(plan.launches.size(), 2U);
  EXPECT_EQ(plan.scratch[0].shape[0], 4);
  EXPECT_EQ(require_variant(spec, problem, scope, variant(1)).launches.size(), 1U);
}

TEST(Lets, AreComputedOnceInARun) {
  std::vector<model::Let> lets{{"l0", ex("x")}};
  for (int i = 1; i <= 60; ++i) {
    const std::string before = "l" + std::to_string(i - 1);
    lets.push_back({"l" + std::to_string(i), ex(before + " + " + before)});
  }
  const Program program(ex("l60 - 1"), Lets(lets));
  EXPECT_EQ(program.names(), std::vector<std::string>{"x"});
  EXPECT_EQ(program.own_names(), std::vector<std::string>{"l60"});
  EXPECT_EQ(program.lets().size(), 61U);
  EXPECT_EQ(program.run({1}).value, (1LL << 60) - 1);  // 2^60 additions, if it were otherwise
  EXPECT_EQ(program.run({8}).fault, Fault::kOverflow);
}

TEST(Lets, InABranchThatIsNotTakenCannotFail) {
  const Program program(ex("x == 0 ? 7 : share"), Lets({{"share", ex("8 / x")}}));
  EXPECT_EQ(program.run({0}).value, 7);
  EXPECT_EQ(program.run({4}).value, 2);
}

TEST(Lets, ThatUseThemselvesAreRefused) {
  const Lets lets({{"a", ex("b + 1")}, {"b", ex("c * a")}, {"c", ex("1")}});
  EXPECT_EQ(message_of([&] { Program(ex("a"), lets); }), "let 'a' uses itself: a → b → a");
  EXPECT_EQ(message_of([&] { Program(ex("c"), lets); }), "no error");
}

TEST(Lets, OfAVariantThatFailAreNamedWithTheirOwnExpression) {
  model::OpSpec spec = with_lets();
  spec.lets[1].expr = ex("cdiv(M, ROWS - 1)");
  spec.launches[0].grid[0] = ex("row_groups + 1");
  const model::Problem problem = row_problem();
  const auto plan = resolve_variant(spec, problem, problem_scope(spec, problem, h200()), variant(1));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().reason, "division by zero (cdiv) in 'cdiv(M, ROWS - 1)' (let row_groups)");
  EXPECT_EQ(plan.error().detail, "M = 16, ROWS = 1");
}

}  // namespace
}  // namespace ktune::expr
