#include <random>

#include "expr/value_test.h"

namespace ktune::expr {
namespace {

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
  static constexpr char kAlphabet[] = "ab1 2+-*/%!<>=&|?:(),min.^~[]x0 not in and or";
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
      EXPECT_EQ(error.kind(), ErrorKind::kUsage) << text << ": " << error.message();
    }
  }
  EXPECT_GT(values, 200);
}

}  // namespace
}  // namespace ktune::expr
