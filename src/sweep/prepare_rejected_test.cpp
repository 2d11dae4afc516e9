// Variants that a launch without a value rejects.

#include <gtest/gtest.h>

#include "base/error.h"
#include "expr/row_op_test.h"
#include "sweep/sweep.h"

namespace ktune::sweep {
namespace {

Work work_of(const model::OpSpec& full, const model::OpSpec& narrowed) {
  return {std::make_shared<const model::OpSpec>(narrowed),
          std::make_shared<const model::OpSpec>(full),
          {expr::row_problem()}};
}

const PreparedProblem& prepared_of(std::vector<SharedProblem>& held, const Work& work) {
  held = prepare({work}, expr::h200(), 1);
  return *held.front();
}

std::int64_t accounted(const space::Space& space) {
  std::int64_t sum = space.size();
  for (const auto& [why, count] : space.rejected()) sum += count;
  return sum;
}

TEST(PrepareLaunches, RejectsVariantsWhoseLaunchFailsAndCountsThemByTheExpression) {
  model::OpSpec spec = expr::row_op();
  std::vector<SharedProblem> plain;
  const PreparedProblem& before = prepared_of(plain, work_of(spec, spec));
  EXPECT_EQ(before.space.size(), 15);
  EXPECT_EQ(before.cost.launches, 1) << "the fewest: ROWS = 4 needs two";
  spec.launches[0].grid[0] = expr::ex("M / (4 - ROWS)");
  std::vector<SharedProblem> held;
  const PreparedProblem& after = prepared_of(held, work_of(spec, spec));
  EXPECT_EQ(after.space.size(), 9);
  EXPECT_EQ(after.space.rejected().at("division by zero in 'M / (4 - ROWS)'"), 6);
  EXPECT_EQ(after.space.enumerated(), 24);
  EXPECT_EQ(accounted(after.space), 24);
  EXPECT_EQ(after.space.variant(after.default_id), after.default_variant);
}

TEST(PrepareLaunches, CountsTheDefaultWhereItWasNarrowedAway) {
  model::OpSpec spec = expr::row_op();
  spec.launches[0].grid[0] = expr::ex("M / (4 - ROWS)");
  model::OpSpec narrowed = spec;
  narrowed.params[0].listed = spec.params[0].values;
  narrowed.params[0].values = {{256, ""}};
  std::vector<SharedProblem> held;
  const PreparedProblem& prepared = prepared_of(held, work_of(spec, narrowed));
  EXPECT_EQ(prepared.space.size(), 4) << "256 and ROWS = 1, with three loaders, and the default";
  EXPECT_EQ(prepared.default_id, 3);
  EXPECT_EQ(accounted(prepared.space), prepared.space.enumerated());
}

TEST(PrepareLaunches, ADefaultThatCannotBeLaunchedIsAnErrorOfTheSpec) {
  model::OpSpec spec = expr::row_op();
  spec.launches[0].grid[0] = expr::ex("M / (ROWS - 1)");
  spec.launches[0].grid[0].at = {"op.toml", 12, 9};
  try {
    prepare({work_of(spec, spec)}, expr::h200(), 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_EQ(error.message(), "division by zero in 'M / (ROWS - 1)' where M = 16, ROWS = 1");
    EXPECT_EQ(error.where(), "op.toml:12:9");
  }
}

TEST(PrepareLaunches, WhyAbsentSaysWhatConstraintsAndLaunchesSay) {
  model::OpSpec spec = expr::row_op();
  spec.launches[0].grid[0] = expr::ex("M / (4 - ROWS)");
  std::vector<SharedProblem> held;
  const PreparedProblem& prepared = prepared_of(held, work_of(spec, spec));
  EXPECT_EQ(why_absent(prepared, expr::variant(1)), std::nullopt);
  EXPECT_EQ(why_absent(prepared, expr::variant(4)), "division by zero in 'M / (4 - ROWS)' (M = 16, ROWS = 4)");
  model::Variant wide = expr::variant(4);
  wide.values[0].second.number = 1024;
  EXPECT_EQ(why_absent(prepared, wide)->substr(0, 31), "many rows need a narrow block: ");
}

}  // namespace
}  // namespace ktune::sweep
