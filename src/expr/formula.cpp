#include "expr/formula.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "expr/arithmetic.h"
#include "expr/excerpt.h"
#include "expr/tokens.h"

// muParser is the evaluator: it knows precedence and turns a formula into bytecode. Three things it does not do as a
// spec needs them, so the text is rewritten on the way in, by one descent over the tokens:
//
//   * && and || evaluate both sides, so `CLUSTER > 1 && N / CLUSTER > 8` would divide by zero. Its ?: is lazy:
//     `a && b` becomes `a ? (b ? 1 : 0) : 0`, `a || b` becomes `a ? 1 : (b ? 1 : 0)`.
//   * prefix operators cannot follow one another (`!!x`, `-(-x)` without brackets): they become calls.
//   * it says "unexpected token" by position in its own text. Here every mistake is found first, with the position in
//     the spec and words for what was expected; what reaches muParser always parses.
//
// Comparisons get one-character names because muParser reads '=' as the start of an assignment even when its own
// operators are off. `a < b < c` is refused: it does not mean what it looks like.

namespace ktune::expr {
namespace {

using Kind = Token::Kind;

constexpr int kDeepest = 60;

bool is_comparison(const std::string& op) {
  return op == "<" || op == ">" || op == "<=" || op == ">=" || op == "==" || op == "!=";
}

std::string spelling(const std::string& op) {
  if (op == "==") return {kEqual};
  if (op == "!=") return {kNotEqual};
  if (op == "<=") return {kLessEqual};
  if (op == ">=") return {kGreaterEqual};
  return op;
}

class Rewriter {
 public:
  explicit Rewriter(const model::Expression& expression) : expression_(expression), tokens_(tokenize(expression)) {}

  Formula run() {
    if (peek().kind == Kind::kEnd) fail_at(expression_, 0, 1, "the expression is empty");
    Formula result;
    result.text = conditional();
    if (peek().kind == Kind::kClose) fail("there is no '(' for this ')'");
    if (peek().kind != Kind::kEnd) fail("unexpected '" + peek().text + "'");
    result.names.assign(names_.begin(), names_.end());
    return result;
  }

 private:
  const Token& peek() const { return tokens_[at_]; }
  Token take() { return tokens_[at_++]; }

  [[noreturn]] void fail(const std::string& message, const std::string& hint = {}) const {
    fail_at(expression_, peek().offset, std::max(1, static_cast<int>(peek().text.size())), message, hint);
  }

  std::string conditional() {
    if (++depth_ > kDeepest) fail("the expression is nested deeper than " + std::to_string(kDeepest) + " levels");
    std::string result = disjunction();
    if (peek().kind == Kind::kQuestion) {
      take();
      const std::string yes = conditional();
      if (peek().kind != Kind::kColon) fail("'?' without its ':'", "CONDITION ? A : B");
      take();
      const std::string no = conditional();
      result = "((" + result + ") ? (" + yes + ") : (" + no + "))";
    }
    --depth_;
    return result;
  }

  std::string disjunction() {
    std::string result = conjunction();
    while (peek().kind == Kind::kOr) {
      take();
      result = "((" + result + ") ? 1 : ((" + conjunction() + ") ? 1 : 0))";
    }
    return result;
  }

  std::string conjunction() {
    std::string result = comparison();
    while (peek().kind == Kind::kAnd) {
      take();
      result = "((" + result + ") ? ((" + comparison() + ") ? 1 : 0) : 0)";
    }
    return result;
  }

  /// Operands and binary operators; muParser sorts out their precedence.
  std::string comparison() {
    std::string result = operand();
    bool compared = false;
    while (peek().kind == Kind::kOperator) {
      if (peek().text == "!") fail("expected an operator before '!'");
      if (is_comparison(peek().text)) {
        if (compared) fail("comparisons do not chain", "write 'a < b && b < c', or put brackets");
        compared = true;
      }
      result += ' ' + spelling(take().text) + ' ';
      result += operand();
    }
    if (peek().kind == Kind::kNumber || peek().kind == Kind::kName || peek().kind == Kind::kOpen) {
      fail("expected an operator before '" + peek().text + "'");
    }
    return result;
  }

  std::string operand() {
    const Token& token = peek();
    switch (token.kind) {
      case Kind::kNumber:
        return take().text;
      case Kind::kName:
        return tokens_[at_ + 1].kind == Kind::kOpen ? call() : name();
      case Kind::kOpen: {
        take();
        std::string inner = conditional();
        close();
        return '(' + inner + ')';
      }
      case Kind::kOperator:
        if (token.text == "-" || token.text == "!" || token.text == "+") return prefixed();
        break;
      default:
        break;
    }
    if (token.kind == Kind::kEnd) fail("the expression ends where a value is expected");
    fail("expected a value before '" + token.text + "'");
  }

  std::string prefixed() {
    if (++depth_ > kDeepest) fail("the expression is nested deeper than " + std::to_string(kDeepest) + " levels");
    const std::string op = take().text;
    std::string inner = operand();
    --depth_;
    if (op == "+") return inner;
    return std::string(op == "-" ? kNegate : kNot) + "(" + inner + ")";
  }

  std::string name() {
    if (find_function(peek().text) != nullptr)
      fail("'" + peek().text + "' is a function: it needs arguments in brackets");
    names_.emplace(peek().text, peek().offset);
    return take().text;
  }

  std::string call() {
    const FunctionInfo* function = find_function(peek().text);
    if (function == nullptr) {
      std::vector<std::string> known;
      for (const FunctionInfo& info : kFunctions) known.emplace_back(info.name);
      fail("unknown function '" + peek().text + "'" + did_you_mean(peek().text, known),
           "functions: " + join(known, ", "));
    }
    const std::size_t start = at_;
    take();
    take();
    std::string arguments;
    int count = 0;
    if (peek().kind != Kind::kClose) {
      arguments = '(' + conditional() + ')';
      for (count = 1; peek().kind == Kind::kComma; ++count) {
        take();
        arguments += ", (" + conditional() + ")";
      }
    }
    close();
    if (count < function->least || (function->most >= 0 && count > function->most)) {
      at_ = start;
      const std::string wanted = function->most < 0     ? "at least one argument"
                                 : function->least == 1 ? "1 argument"
                                                        : std::to_string(function->least) + " arguments";
      fail(std::string(function->name) + " takes " + wanted + ", not " + std::to_string(count));
    }
    return std::string(function->name) + "(" + arguments + ")";
  }

  void close() {
    if (peek().kind == Kind::kEnd) fail("a ')' is missing");
    if (peek().kind != Kind::kClose) fail("expected ')' before '" + peek().text + "'");
    take();
  }

  const model::Expression& expression_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::map<std::string, int> names_;
};

}  // namespace

Formula formula(const model::Expression& expression) { return Rewriter(expression).run(); }

}  // namespace ktune::expr
