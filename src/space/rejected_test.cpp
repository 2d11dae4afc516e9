// Expressions without a value in constraints, in `when`s and in lets.

#include "space/space.h"

#include <gtest/gtest.h>

#include <numeric>

#include "expr/resolve.h"
#include "space/spaces_for_test.h"

namespace ktune::space {
namespace {

TEST(Enumerate, AConstraintWithoutAValueRejectsWithTheExpressionAsReason) {
  model::OpSpec spec;
  spec.params = {axis("A", {0, 1, 1LL << 40}), axis("B", {1, 1LL << 40}), axis("C", {1, 2, 3})};
  spec.constraints = {{ex("8 / A >= 0"), "too small"}, {ex("A * B > 0"), "not positive"}};
  const Space space = enumerate(spec, {});
  EXPECT_EQ(space.rejected(), (std::map<std::string, std::int64_t>{{"division by zero in '8 / A >= 0'", 6},
                                                                   {"overflow of 64 bits in 'A * B > 0'", 3}}));
  EXPECT_EQ(space.size(), 9);
  EXPECT_EQ(accounted(space), space.enumerated());
  EXPECT_EQ(explain(spec, {}, {{{"A", {0, ""}}, {"B", {1, ""}}, {"C", {1, ""}}}}),
            "too small: division by zero in '8 / A >= 0' (A = 0)");
}

TEST(Enumerate, AWhenWithoutAValueRejectsEveryValueOfItsAxis) {
  model::OpSpec spec;
  spec.params = {axis("A", {0, 1}), axis("S", {1, 2, 3}), axis("B", {1, 2})};
  spec.params[1].when = ex("4 % A == 0");
  spec.params[1].otherwise = {1, ""};
  const Space space = enumerate(spec, {});
  EXPECT_EQ(space.rejected(), (std::map<std::string, std::int64_t>{{"modulo by zero in '4 % A == 0'", 6}}));
  EXPECT_EQ(space.size(), 6);
  EXPECT_EQ(explain(spec, {}, {{{"A", {0, ""}}, {"S", {1, ""}}, {"B", {1, ""}}}}),
            "S: whether it applies: modulo by zero in '4 % A == 0' (A = 0)");
}

TEST(Enumerate, AFailureIsCountedAlikeWhereTheCombinationsAreTooManyToRemember) {
  std::vector<std::int64_t> values(3000);
  std::iota(values.begin(), values.end(), 0);
  model::OpSpec spec;
  spec.params = {axis("A", values), axis("B", values)};
  spec.constraints = {{ex("A == 7"), "one A"}, {ex("A * 100 / B >= 0"), "positive"}};
  const Space space = enumerate(spec, {});
  EXPECT_EQ(space.rejected().at("division by zero in 'A * 100 / B >= 0'"), 1);
  EXPECT_EQ(space.size(), 2999);
}

TEST(Enumerate, AConstraintWithALetIsTestedAsSoonAsWhatTheLetUsesIsBound) {
  model::OpSpec spec;
  spec.params = {axis("A", {1, 2, 3}), axis("B", {1, 2}), axis("C", {1, 2, 3, 4, 5})};
  spec.lets = {{"twice", ex("A * 2")}, {"both", ex("twice + B")}, {"limit", ex("K - 1")}};
  spec.constraints = {{ex("twice <= limit"), "first"}, {ex("both != 3"), "second"}, {ex("C + both > 5"), "third"}};
  expr::Scope scope = scope_of({{"K", 5}});
  scope.set_lets(spec.lets);
  const Space space = enumerate(spec, scope);
  // A = 3 goes at depth 1 (10 points), A = B = 1 at depth 2 (5), then A=1,B=2: C < 2, A=2,B=1: C < 1.
  EXPECT_EQ(space.rejected(), (std::map<std::string, std::int64_t>{{"first", 10}, {"second", 5}, {"third", 1}}));
  EXPECT_EQ(space.size(), 14);
  EXPECT_EQ(explain(spec, scope, {{{"A", {3, ""}}, {"B", {1, ""}}, {"C", {1, ""}}}}),
            "first: 'twice <= limit' does not hold (limit = 4, twice = 6)");
}

TEST(Enumerate, ALetThatFailsRejectsWithItsOwnExpression) {
  model::OpSpec spec;
  spec.params = {axis("A", {0, 1, 2}), axis("B", {1, 2})};
  spec.lets = {{"share", ex("8 / A")}};
  spec.constraints = {{ex("B == 2 || share > 4"), "too small"}};
  expr::Scope scope;
  scope.set_lets(spec.lets);
  const Space space = enumerate(spec, scope);
  EXPECT_EQ(space.rejected(),
            (std::map<std::string, std::int64_t>{{"division by zero in '8 / A' (let share)", 1}, {"too small", 1}}));
  EXPECT_EQ(texts(space), (std::vector<std::string>{"A=0,B=2", "A=1,B=1", "A=1,B=2", "A=2,B=2"}));
}

}  // namespace
}  // namespace ktune::space
