#include "expr/expr.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "base/error.h"

namespace ktune::expr {
namespace {

std::int64_t value(const std::string& text, const Scope& scope = {}) {
  return Program(model::Expression{text, {}}).evaluate(scope);
}

Scope scope_of(std::initializer_list<std::pair<const char*, std::int64_t>> values) {
  Scope scope;
  for (const auto& [name, number] : values) scope.set(name, number);
  return scope;
}

/// "MESSAGE" or "MESSAGE | HINT" of the error an expression gives.
std::string error_of(const std::string& text, const Scope& scope = {}) {
  try {
    value(text, scope);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.message() + (error.hint().empty() ? "" : " | " + error.hint());
  }
  return "no error";
}

TEST(Expression, PrecedenceIsThatOfC) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("20 - 4 - 3"), 13);
  EXPECT_EQ(value("100 / 10 / 2"), 5);
  EXPECT_EQ(value("2 + 17 % 5 * 3"), 8);
  EXPECT_EQ(value("1 + 1 == 2"), 1);
  EXPECT_EQ(value("1 || 0 && 0"), 1);
  EXPECT_EQ(value("!0 + 1"), 2);
  EXPECT_EQ(value("!(3 > 2)"), 0);
  EXPECT_EQ(value("!!7"), 1);
  EXPECT_EQ(value("-2 * -3"), 6);
  EXPECT_EQ(value("- - 4"), 4);
  EXPECT_EQ(value("+5"), 5);
  EXPECT_EQ(value("3 - -4"), 7);
  EXPECT_EQ(value("1 ? 2 : 3 ? 4 : 5"), 2);
  EXPECT_EQ(value("0 ? 2 : 0 ? 4 : 5"), 5);
  EXPECT_EQ(value("1 + (2 > 1 ? 10 : 20)"), 11);
  EXPECT_EQ(value("(2 == 2) == 1"), 1);
  EXPECT_EQ(value("(1) != (2)"), 1);
  EXPECT_EQ(value("5 <= 5"), 1);
  EXPECT_EQ(value("5 >= 6"), 0);
}

TEST(Expression, DivisionTruncatesTowardZeroAndModuloFollowsIt) {
  EXPECT_EQ(value("7 / 2"), 3);
  EXPECT_EQ(value("-7 / 2"), -3);
  EXPECT_EQ(value("7 / -2"), -3);
  EXPECT_EQ(value("-7 % 3"), -1);
  EXPECT_EQ(value("7 % -3"), 1);
  // A quotient of doubles would round up to 1801439850948199.
  EXPECT_EQ(value("9007199254740991 / 5"), 1801439850948198);
}

TEST(Expression, ValuesAreExactUpTo2To53AndRefusedBeyond) {
  EXPECT_EQ(value("9007199254740992"), 9007199254740992);
  EXPECT_EQ(value("9007199254740991 - 9007199254740990"), 1);
  EXPECT_EQ(value("94906265 * 94906265"), 9007199136250225);
  EXPECT_EQ(error_of("94906267 * 94906267"), "a value beyond 2^53 in '94906267 * 94906267'");
  EXPECT_EQ(error_of("9007199254740992 + 1 + 1"), "a value beyond 2^53 in '9007199254740992 + 1 + 1'");
  EXPECT_EQ(error_of("0 - 9007199254740992 - 2"), "a value beyond 2^53 in '0 - 9007199254740992 - 2'");
  EXPECT_EQ(error_of("9007199254740993"), "'9007199254740993' is beyond 2^53");
  EXPECT_EQ(error_of("99999999999999999999"), "'99999999999999999999' is beyond 2^53");
  EXPECT_EQ(error_of("N", scope_of({{"N", 9007199254740993}})), "'N' is 9007199254740993, beyond 2^53");
}

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
  EXPECT_EQ(value("next_pow2(9007199254740991)"), 9007199254740992);
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
  EXPECT_EQ(error_of("1.5 * N"), "'1.5' is not an integer | an expression works on decimal integers");
  EXPECT_EQ(error_of("1e3"), "'1e3' is not an integer | an expression works on decimal integers");
  EXPECT_EQ(error_of("0x10"), "'0x10' is not an integer | an expression works on decimal integers");
  EXPECT_EQ(error_of("N ^ 2"), "unexpected character '^'");
  EXPECT_EQ(error_of("N × 2"), "unexpected character '×'");
  EXPECT_EQ(error_of("N & 1"), "there is no operator '&' | logical and, or are '&&', '||'");
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
  EXPECT_EQ(program.evaluate(std::vector<std::int64_t>{2, 3, 1}), 5);
  EXPECT_EQ(program.evaluate(std::vector<std::int64_t>{10, 3, 100}), 23);
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

// --- random expressions against a direct evaluation of their tree

struct Generated {
  std::string text;
  std::int64_t value = 0;
  bool ok = true;  ///< false: must raise
};

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  Generated make(int depth) {
    if (depth == 0) {
      const std::int64_t number = pick(6);
      return {std::to_string(number), number, true};
    }
    switch (pick(6)) {
      case 0:
        return unary(depth);
      case 1:
        return choice(depth);
      case 2:
        return logical(depth);
      default:
        return binary(depth);
    }
  }

 private:
  std::int64_t pick(int n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint32_t>(n)); }

  Generated unary(int depth) {
    const Generated inner = make(depth - 1);
    if (pick(2) == 0) return {"-(" + std::string(inner.text) + ")", -inner.value, inner.ok};
    return {"!(" + std::string(inner.text) + ")", inner.value == 0 ? 1 : 0, inner.ok};
  }

  Generated choice(int depth) {
    const Generated condition = make(depth - 1);
    const Generated yes = make(depth - 1);
    const Generated no = make(depth - 1);
    const Generated& taken = condition.value != 0 ? yes : no;
    std::string text = "(";
    text += condition.text + " ? " + yes.text + " : " + no.text + ")";
    return {text, taken.value, condition.ok && taken.ok};
  }

  Generated logical(int depth) {
    const Generated a = make(depth - 1);
    const Generated b = make(depth - 1);
    const bool conjunction = pick(2) == 0;
    const bool decided = (a.value != 0) != conjunction;
    std::string text = "((";
    text += a.text + (conjunction ? ") && (" : ") || (") + b.text + "))";
    const bool result = decided ? !conjunction : b.value != 0;
    return {text, result ? 1 : 0, a.ok && (decided || b.ok)};
  }

  Generated binary(int depth) {
    static constexpr const char* kOperators[] = {"+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!="};
    const Generated a = make(depth - 1);
    const Generated b = make(depth - 1);
    const std::int64_t which = pick(11);
    std::string text = "((";
    text += a.text + ") " + kOperators[which] + " (" + b.text + "))";
    bool ok = a.ok && b.ok;
    if (!ok) return {text, 0, false};
    const std::int64_t x = a.value;
    const std::int64_t y = b.value;
    if ((which == 3 || which == 4) && y == 0) return {text, 0, false};
    const std::int64_t results[] = {
        x + y,          x - y,         x * y,          y != 0 ? x / y : 0, y != 0 ? x % y : 0, x < y ? 1 : 0,
        x <= y ? 1 : 0, x > y ? 1 : 0, x >= y ? 1 : 0, x == y ? 1 : 0,     x != y ? 1 : 0};
    return {text, results[which], ok};
  }

  std::mt19937 random_;
};

TEST(Expression, RandomTreesEvaluateToTheirValues) {
  int raised = 0;
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    const Generated tree = Generator(seed).make(4);
    if (tree.text.size() > 2000) continue;
    if (!tree.ok) {
      ++raised;
      EXPECT_THROW(value(tree.text), Error) << tree.text;
    } else {
      ASSERT_EQ(value(tree.text), tree.value) << tree.text;
    }
  }
  EXPECT_GT(raised, 100);
}

TEST(Expression, RandomBytesGiveAValueOrAnErrorButNeverMore) {
  static constexpr char kAlphabet[] = "ab1 2+-*/%!<>=&|?:(),min.";
  std::mt19937 random(7);
  const Scope scope = scope_of({{"a", 3}, {"b", 0}});
  int values = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (auto n = random() % 12; n > 0; --n) text += kAlphabet[random() % (sizeof kAlphabet - 1)];
    try {
      value(text, scope);
      ++values;
    } catch (const Error& error) {
      EXPECT_EQ(error.message().find("Unexpected"), std::string::npos) << text << ": " << error.message();
    }
  }
  EXPECT_GT(values, 200);
}

}  // namespace
}  // namespace ktune::expr
