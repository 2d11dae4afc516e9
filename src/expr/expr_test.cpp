#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "expr/value_test.h"

namespace ktune::expr {
namespace {

TEST(Expression, FunctionsGiveTheirValues) {
  EXPECT_EQ(value("cdiv(7, 2)"), 4);
  EXPECT_EQ(value("cdiv(8, 2)"), 4);
  EXPECT_EQ(value("cdiv(0, 5)"), 0);
  EXPECT_EQ(value("cdiv(-7, 2)"), -3);
  EXPECT_EQ(value("min(3)"), 3);
  EXPECT_EQ(value("min(16, 4, 8)"), 4);
  EXPECT_EQ(value("max(1, 9, 3, 2, 8)"), 9);
  EXPECT_EQ(value("clamp(5, 8, 16)"), 8);
  EXPECT_EQ(value("clamp(99, 8, 16)"), 16);
  EXPECT_EQ(value("clamp(9, 8, 16)"), 9);
  EXPECT_EQ(value("next_pow2(1000)"), 1024);
  EXPECT_EQ(value("next_pow2(1024)"), 1024);
  EXPECT_EQ(value("next_pow2(0)"), 1);
  EXPECT_EQ(value("next_pow2(-9223372036854775808)"), 1);
  EXPECT_EQ(value("next_pow2(4611686018427387904)"), 4611686018427387904);
  EXPECT_EQ(value("cdiv(9223372036854775807, 2)"), 4611686018427387904);
  EXPECT_EQ(value("is_pow2(-9223372036854775808)"), 0);
  EXPECT_EQ(value("gcd(-12, 18)"), 6);
  EXPECT_EQ(value("gcd(-9223372036854775808, 2)"), 2);
  EXPECT_EQ(value("is_pow2(64)"), 1);
  EXPECT_EQ(value("is_pow2(96)"), 0);
  EXPECT_EQ(value("is_pow2(0)"), 0);
  EXPECT_EQ(value("gcd(1023, 16)"), 1);
  EXPECT_EQ(value("gcd(48, 16 + 20)"), 12);
  EXPECT_EQ(value("max(1 > 2 ? 7 : 3, 0 || 2)"), 3);
}

TEST(Expression, WhatIsNotNeededIsNotEvaluated) {
  const Scope zero = scope_of({{"CLUSTER", 0}, {"N", 8}});
  EXPECT_EQ(value("CLUSTER > 1 && N / CLUSTER > 2", zero), 0);
  EXPECT_EQ(value("CLUSTER == 0 || N % CLUSTER == 0", zero), 1);
  EXPECT_EQ(value("CLUSTER > 0 ? N / CLUSTER : 77", zero), 77);
  EXPECT_EQ(value("0 && (1 / 0 ? 1 : 0)"), 0);
  EXPECT_EQ(value("0 and 9223372036854775807 + 1"), 0);
  EXPECT_EQ(value("1 or 1 << 99"), 1);
  EXPECT_EQ(value("1 ? 2 : 1 % 0"), 2);
  EXPECT_EQ(value("0 ? cdiv(1, 0) : 3"), 3);
  EXPECT_EQ(value("3 && 4"), 1);
  EXPECT_EQ(value("0 || 5"), 1);
  EXPECT_EQ(error_of("CLUSTER >= 0 && N / CLUSTER > 2", zero),
            "division by zero in 'CLUSTER >= 0 && N / CLUSTER > 2' where CLUSTER = 0, N = 8");
}

TEST(Expression, ArithmeticErrorsNameTheExpressionAndItsValues) {
  const Scope scope = scope_of({{"N", 8}, {"Z", 0}});
  EXPECT_EQ(error_of("N / Z", scope), "division by zero in 'N / Z' where N = 8, Z = 0");
  EXPECT_EQ(error_of("N % Z", scope), "modulo by zero in 'N % Z' where N = 8, Z = 0");
  EXPECT_EQ(error_of("cdiv(N, Z)", scope), "division by zero (cdiv) in 'cdiv(N, Z)' where N = 8, Z = 0");
  EXPECT_EQ(error_of("clamp(1, 5, 2)"), "clamp with a lower bound above the upper one in 'clamp(1, 5, 2)'");
  EXPECT_EQ(error_of("cdiv(4, -1)"), "cdiv by a negative number in 'cdiv(4, -1)'");
}

TEST(Expression, SyntaxErrorsSayWhatIsWrong) {
  EXPECT_EQ(error_of(""), "the expression is empty");
  EXPECT_EQ(error_of("   "), "the expression is empty");
  EXPECT_EQ(error_of("N = 4"), "'=' would assign | compare with '=='");
  const std::string integers =
      " is not an integer | an expression works on integers: decimal, or hexadecimal as in 0x1F";
  EXPECT_EQ(error_of("1.5 * N"), "'1.5'" + integers);
  EXPECT_EQ(error_of("1e3"), "'1e3'" + integers);
  EXPECT_EQ(error_of("N $ 2"), "unexpected character '$'");
  EXPECT_EQ(error_of("N × 2"), "unexpected character '×'");
  EXPECT_EQ(error_of("N ! 1"), "expected an operator before '!'");
  EXPECT_EQ(error_of("N ~ 1"), "expected an operator before '~'");
  EXPECT_EQ(error_of("(N + 1"), "a ')' is missing");
  EXPECT_EQ(error_of("N + 1)"), "there is no '(' for this ')'");
  EXPECT_EQ(error_of("N +"), "the expression ends where a value is expected");
  EXPECT_EQ(error_of("* N"), "expected a value before '*'");
  EXPECT_EQ(error_of("()"), "expected a value before ')'");
  EXPECT_EQ(error_of("N M"), "expected an operator before 'M'");
  EXPECT_EQ(error_of("2 N"), "expected an operator before 'N'");
  EXPECT_EQ(error_of("N ? 1"), "'?' without its ':' | CONDITION ? A : B");
  EXPECT_EQ(error_of("N : 1"), "unexpected ':'");
  EXPECT_EQ(error_of("1, 2"), "unexpected ','");
  EXPECT_EQ(error_of("1 < N < 3"), "comparisons do not chain | write 'a < b && b < c', or put brackets");
  EXPECT_EQ(
      error_of("cdif(1, 2)"),
      "unknown function 'cdif'; did you mean 'cdiv'? | functions: cdiv, min, max, clamp, next_pow2, is_pow2, gcd");
  EXPECT_EQ(error_of("cdiv(1)"), "cdiv takes 2 arguments, not 1");
  EXPECT_EQ(error_of("next_pow2(1, 2)"), "next_pow2 takes 1 argument, not 2");
  EXPECT_EQ(error_of("min(1,)"), "expected a value before ')'");
  EXPECT_EQ(error_of("min()"), "min takes at least one argument, not 0");
  EXPECT_EQ(error_of("min + 1"), "'min' is a function: it needs arguments in brackets");
  EXPECT_EQ(error_of(std::string(100, '(') + "1" + std::string(100, ')')),
            "the expression is nested deeper than 60 levels");
  EXPECT_EQ(error_of(std::string(100, '!') + "1"), "the expression is nested deeper than 60 levels");
  EXPECT_EQ(error_of(std::string(2001, '1')), "the expression is longer than 2000 characters");
}

TEST(Expression, AnUnboundNameGetsASuggestion) {
  const Scope scope = scope_of({{"num_warps", 4}, {"BLOCK_SIZE", 256}});
  EXPECT_EQ(error_of("32 * num_warp", scope), "unknown name 'num_warp'; did you mean 'num_warps'?");
  EXPECT_EQ(error_of("zebra", scope), "unknown name 'zebra'");
}

TEST(Expression, NamesAreListedOnceAndSorted) {
  const Program program(model::Expression{"b * a + min(b, c) - a", {}});
  EXPECT_EQ(program.names(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(program.run({2, 3, 1}).value, 5);
  EXPECT_EQ(program.run({10, 3, 100}).value, 23);
}

TEST(Expression, AFailureIsAValueForWhoAsksSo) {
  const Program program(model::Expression{"N / Z + M", {"op.toml", 7, 3}});
  const Evaluation failed = program.run({1, 8, 0});
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.fault, Fault::kDivisionByZero);
  const Rejection rejection = program.rejection(failed, {1, 8, 0});
  EXPECT_EQ(rejection.reason, "division by zero in 'N / Z + M'");
  EXPECT_EQ(rejection.values, "M = 1, N = 8, Z = 0");
  EXPECT_EQ(rejection.failure().outcome, model::Outcome::kRejected);
  EXPECT_EQ(rejection.failure().reason, rejection.reason);
  EXPECT_EQ(rejection.failure().detail, "op.toml:7: M = 1, N = 8, Z = 0");
  EXPECT_EQ(program.run({1, 8, 2}).value, 5);
  const auto value = try_evaluate(program.source(), scope_of({{"M", 1}, {"N", 8}, {"Z", 0}}));
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().reason, rejection.reason);
  EXPECT_THROW(static_cast<void>(try_evaluate(program.source(), scope_of({{"M", 1}, {"N", 8}}))), Error);
}

TEST(Expression, ADeepStackIsAsGoodAsAShallowOne) {
  std::string text;  // each level keeps a value on the stack for every operator left of it
  std::int64_t expected = 1;
  for (int i = 0; i < 50; ++i) {
    text += "1 + 1 * (";
    ++expected;
  }
  text += "1" + std::string(50, ')');
  EXPECT_EQ(value(text), expected);
}

TEST(Expression, AMovedProgramKeepsItsValue) {
  Program first(model::Expression{"x + 1", {}});
  const Program second = std::move(first);
  EXPECT_EQ(second.evaluate(scope_of({{"x", 41}})), 42);
}

class ExpressionPosition : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() / ("ktune_expr_" + std::to_string(::getpid()) + ".toml");
    std::ofstream(path_) << "[op]\n"
                         << "expr = \"BLOCK_SIZE >= 32 * num_warp\"\n"
                         << "why = \"µ\" # expr\n";
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string where(const std::string& text, int line, int column, const Scope& scope) const {
    try {
      evaluate(model::Expression{text, {path_.string(), line, column}}, scope);
    } catch (const Error& error) {
      return error.where().substr(path_.string().size());
    }
    return "no error";
  }

  std::filesystem::path path_;
};

TEST_F(ExpressionPosition, ACaretMarksTheUnknownName) {
  EXPECT_EQ(where("BLOCK_SIZE >= 32 * num_warp", 2, 9, scope_of({{"BLOCK_SIZE", 1}})),
            ":2:28\n"
            " 2 | expr = \"BLOCK_SIZE >= 32 * num_warp\"\n"
            "   |                            ^~~~~~~~");
}

TEST_F(ExpressionPosition, WithoutTheTextOnTheLineTheCaretStaysAtItsStart) {
  EXPECT_EQ(where("a * num_warp", 2, 8, {}),
            ":2:8\n"
            " 2 | expr = \"BLOCK_SIZE >= 32 * num_warp\"\n"
            "   |        ^");
}

TEST_F(ExpressionPosition, ColumnsCountCharactersNotBytes) {
  EXPECT_EQ(where("expr", 3, 13, {}),
            ":3:13\n"
            " 3 | why = \"µ\" # expr\n"
            "   |             ^~~~");
}

TEST_F(ExpressionPosition, TwinsOnDifferentLinesKeepTheirOwnPositions) {
  EXPECT_EQ(where("num_warp", 2, 28, {}).substr(0, 5), ":2:28");
  EXPECT_EQ(where("num_warp", 7, 3, {}), ":7:3");
}

TEST(Expression, AValueFromTheCommandLineHasNoPosition) {
  try {
    value("1 +");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "");
  }
}

}  // namespace
}  // namespace ktune::expr
