#include "expr/parser.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/text.h"
#include "expr/excerpt.h"
#include "expr/tokens.h"

// A Pratt parser: parse(level) reads one value and then every operator that binds at least as tightly as `level`. It
// emits instructions as it reads; there is no tree.
//
// The levels are those that C and Python share. Where they differ (`x & 1 == 0`), & ^ | bind more tightly than
// comparisons, as in Python, since nobody means the other thing. `!` binds tightly, as in C; `not` loosely, as in
// Python. `a < b < c` is refused: it means one thing in C, another in Python.

namespace ktune::expr {
namespace {

using Kind = Token::Kind;

constexpr int kDeepest = 60;

// How tightly operators bind, loosest first.
enum Level : int {
  kConditional = 1,
  kDisjunction,
  kConjunction,
  kNegation,
  kComparison,
  kBitOrLevel,
  kBitXorLevel,
  kBitAndLevel,
  kShift,
  kSum,
  kProduct,
  kPrefix,
};

struct OperatorRow {
  std::string_view text;
  Level level;
  Op op;
};

constexpr std::array kOperators{
    OperatorRow{"<", kComparison, Op::kLess},    OperatorRow{"<=", kComparison, Op::kLessEqual},
    OperatorRow{">", kComparison, Op::kGreater}, OperatorRow{">=", kComparison, Op::kGreaterEqual},
    OperatorRow{"==", kComparison, Op::kEqual},  OperatorRow{"!=", kComparison, Op::kNotEqual},
    OperatorRow{"|", kBitOrLevel, Op::kBitOr},   OperatorRow{"^", kBitXorLevel, Op::kBitXor},
    OperatorRow{"&", kBitAndLevel, Op::kBitAnd}, OperatorRow{"<<", kShift, Op::kShiftLeft},
    OperatorRow{">>", kShift, Op::kShiftRight},  OperatorRow{"+", kSum, Op::kAdd},
    OperatorRow{"-", kSum, Op::kSubtract},       OperatorRow{"*", kProduct, Op::kMultiply},
    OperatorRow{"/", kProduct, Op::kDivide},     OperatorRow{"//", kProduct, Op::kFloorDivide},
    OperatorRow{"%", kProduct, Op::kModulo},
};

struct FunctionRow {
  std::string_view name;
  Op op;
};

constexpr std::array kCalls{
    FunctionRow{"cdiv", Op::kCdiv},
    FunctionRow{"min", Op::kMin},
    FunctionRow{"max", Op::kMax},
    FunctionRow{"clamp", Op::kClamp},
    FunctionRow{"next_pow2", Op::kNextPow2},
    FunctionRow{"is_pow2", Op::kIsPow2},
    FunctionRow{"gcd", Op::kGcd},
};
static_assert(kCalls.size() == kFunctions.size());

/// How many values an instruction leaves on the stack, less what it takes.
int effect_of(Op op) {
  switch (op) {
    case Op::kConstant:
    case Op::kName:
      return 1;
    case Op::kJump:
    case Op::kReplace:
    case Op::kTruth:
    case Op::kNegate:
    case Op::kNot:
    case Op::kComplement:
    case Op::kNextPow2:
    case Op::kIsPow2:
      return 0;
    case Op::kClamp:
      return -2;
    default:
      return -1;
  }
}

class Parser {
 public:
  explicit Parser(const model::Expression& expression) : expression_(expression), tokens_(tokenize(expression)) {}

  Fragment run() {
    if (peek().kind == Kind::kEnd) fail_at(expression_, 0, 1, "the expression is empty");
    parse(kConditional);
    if (peek().kind == Kind::kClose) fail("there is no '(' for this ')'");
    if (peek().kind == Kind::kCloseList) fail("there is no '[' for this ']'");
    if (peek().kind != Kind::kEnd) fail("unexpected '" + peek().text + "'");
    return std::move(result_);
  }

 private:
  const Token& peek() const { return tokens_[at_]; }
  const Token& following() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  const Token& take() { return tokens_[at_++]; }
  bool at_word(std::string_view word) const { return peek().kind == Kind::kName && peek().text == word; }
  bool at_operator(std::string_view text) const { return peek().kind == Kind::kOperator && peek().text == text; }

  [[noreturn]] void fail(const std::string& message, const std::string& hint = {}) const {
    fail_at(expression_, peek().offset, std::max(1, static_cast<int>(peek().text.size())), message, hint);
  }

  /// Adds an instruction and returns its index.
  std::size_t emit(Op op, std::int64_t operand = 0) {
    result_.instructions.push_back({op, 0, operand});
    height_ += effect_of(op);
    result_.depth = std::max(result_.depth, static_cast<std::size_t>(height_));
    return result_.instructions.size() - 1;
  }

  /// Makes an earlier jump lead to what is emitted next.
  void land(std::size_t jump) {
    result_.instructions[jump].operand = static_cast<std::int64_t>(result_.instructions.size() - jump - 1);
  }

  void deeper() {
    if (++nesting_ > kDeepest) fail("the expression is nested deeper than " + std::to_string(kDeepest) + " levels");
  }

  /// A whole expression in brackets, a list, a call or a branch.
  void nested() {
    deeper();
    parse(kConditional);
    --nesting_;
  }

  void parse(int level) {
    prefix(level);
    bool compared = false;
    while (true) {
      const Token& token = peek();
      if (token.kind == Kind::kQuestion) {
        if (level > kConditional) return;
        conditional();
        continue;
      }
      if (at_operator("||") || at_word("or")) {
        if (level > kDisjunction) return;
        lazy(Op::kJumpIfSet, kDisjunction, 1);
        continue;
      }
      if (at_operator("&&") || at_word("and")) {
        if (level > kConjunction) return;
        lazy(Op::kJumpIfZero, kConjunction, 0);
        continue;
      }
      const bool negated = at_word("not") && following().kind == Kind::kName && following().text == "in";
      const bool membership = negated || at_word("in");
      const OperatorRow* row = membership ? nullptr : find_operator();
      if (row == nullptr && !membership) return;
      const Level found = membership ? kComparison : row->level;
      if (found < level) return;
      if (found == kComparison && compared) {
        fail("comparisons do not chain", "write 'a < b && b < c', or put brackets");
      }
      compared = found == kComparison;
      if (membership) {
        member(negated);
      } else {
        take();
        parse(row->level + 1);
        emit(row->op);
      }
    }
  }

  /// The binary operator here, or null where an expression ends. Fails where a value follows a value.
  const OperatorRow* find_operator() const {
    const Token& token = peek();
    if (token.kind == Kind::kOperator) {
      const auto* row = std::find_if(kOperators.begin(), kOperators.end(),
                                     [&](const OperatorRow& candidate) { return candidate.text == token.text; });
      if (row != kOperators.end()) return row;
      fail("expected an operator before '" + token.text + "'");
    }
    if (token.kind == Kind::kOpenList) fail("expected an operator before '['", "a list follows 'in': x in [1, 2]");
    if (token.kind == Kind::kNumber || token.kind == Kind::kName || token.kind == Kind::kOpen) {
      fail("expected an operator before '" + token.text + "'");
    }
    return nullptr;
  }

  void conditional() {
    take();
    const std::size_t to_no = emit(Op::kJumpIfZero);
    nested();
    if (peek().kind != Kind::kColon) fail("'?' without its ':'", "CONDITION ? A : B");
    take();
    const std::size_t to_end = emit(Op::kJump);
    land(to_no);
    --height_;  // one of the two branches
    nested();
    land(to_end);
  }

  /// && and ||: the second side is evaluated when the first does not decide, and then made 0 or 1.
  void lazy(Op decides, Level level, std::int64_t decided) {
    take();
    const std::size_t to_decided = emit(decides);
    parse(level + 1);
    emit(Op::kTruth);
    const std::size_t to_end = emit(Op::kJump);
    land(to_decided);
    --height_;
    emit(Op::kConstant, decided);
    land(to_end);
  }

  /// `x in [a, b]`: equal to one of them. The values are evaluated one by one until one is equal.
  void member(bool negated) {
    take();
    if (negated) take();
    if (peek().kind != Kind::kOpenList) fail("expected '[' after 'in'", "x in [1, 2]");
    take();
    std::vector<std::size_t> found;
    while (true) {
      nested();
      found.push_back(emit(Op::kMatch));
      if (peek().kind != Kind::kComma) break;
      take();
    }
    close(Kind::kCloseList, "]");
    emit(Op::kReplace, 0);
    for (const std::size_t jump : found) land(jump);
    if (negated) emit(Op::kNot);
  }

  void prefix(int level) {
    const Token& token = peek();
    switch (token.kind) {
      case Kind::kNumber:
        return number(false);
      case Kind::kName:
        if (token.text == "not") return negation(level);
        if (is_operator_word(token.text)) break;
        return following().kind == Kind::kOpen ? call() : name();
      case Kind::kOpen:
        take();
        nested();
        return close(Kind::kClose, ")");
      case Kind::kOperator:
        if (token.text == "-" || token.text == "!" || token.text == "+" || token.text == "~") return sign();
        break;
      default:
        break;
    }
    if (token.kind == Kind::kEnd) fail("the expression ends where a value is expected");
    fail("expected a value before '" + token.text + "'",
         token.kind == Kind::kOpenList ? "a list follows 'in': x in [1, 2]" : "");
  }

  void number(bool negative) {
    constexpr auto kHighest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const std::uint64_t value = peek().number;
    if (value > kHighest && !negative) fail("'" + peek().text + "' is beyond 2^63 - 1");
    take();
    emit(Op::kConstant, static_cast<std::int64_t>(negative ? ~value + 1 : value));
  }

  void negation(int level) {
    if (level > kNegation) fail("'not' needs brackets here", "write (not x)");
    deeper();
    take();
    parse(kNegation);
    emit(Op::kNot);
    --nesting_;
  }

  void sign() {
    deeper();
    const std::string op = take().text;
    if (op == "-" && peek().kind == Kind::kNumber) {
      number(true);  // -9223372036854775808 has no positive twin
    } else {
      prefix(kPrefix);
      if (op == "-") emit(Op::kNegate);
      if (op == "!") emit(Op::kNot);
      if (op == "~") emit(Op::kComplement);
    }
    --nesting_;
  }

  void name() {
    if (find_function(peek().text) != nullptr)
      fail("'" + peek().text + "' is a function: it needs arguments in brackets");
    const Token& token = take();
    auto found = std::find_if(result_.names.begin(), result_.names.end(),
                              [&](const auto& known) { return known.first == token.text; });
    if (found == result_.names.end()) found = result_.names.insert(found, {token.text, token.offset});
    emit(Op::kName, found - result_.names.begin());
  }

  void call() {
    const FunctionInfo* function = find_function(peek().text);
    if (function == nullptr) {
      std::vector<std::string> known;
      for (const FunctionInfo& info : kFunctions) known.emplace_back(info.name);
      fail("unknown function '" + peek().text + "'" + did_you_mean(peek().text, known),
           "functions: " + join(known, ", "));
    }
    const Op op = std::find_if(kCalls.begin(), kCalls.end(), [&](const FunctionRow& row) {
                    return row.name == function->name;
                  })->op;
    const bool folds = function->most < 0;
    const std::size_t start = at_;
    take();
    take();
    int count = 0;
    while (peek().kind != Kind::kClose) {
      nested();
      ++count;
      if (folds && count > 1) emit(op);
      if (peek().kind != Kind::kComma) break;
      take();
      if (peek().kind == Kind::kClose) fail("expected a value before ')'");
    }
    close(Kind::kClose, ")");
    check_count(*function, start, count);
    if (!folds) emit(op);
  }

  void check_count(const FunctionInfo& function, std::size_t start, int count) {
    if (count >= function.least && (function.most < 0 || count <= function.most)) return;
    at_ = start;
    const std::string wanted = function.most < 0     ? "at least one argument"
                               : function.least == 1 ? "1 argument"
                                                     : std::to_string(function.least) + " arguments";
    fail(std::string(function.name) + " takes " + wanted + ", not " + std::to_string(count));
  }

  void close(Kind kind, const std::string& text) {
    if (peek().kind == Kind::kEnd) fail("a '" + text + "' is missing");
    if (peek().kind != kind) fail("expected '" + text + "' before '" + peek().text + "'");
    take();
  }

  const model::Expression& expression_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int nesting_ = 1;  ///< the expression itself counts as one level
  int height_ = 0;   ///< values on the stack here
  Fragment result_;
};

}  // namespace

Fragment parse(const model::Expression& expression) { return Parser(expression).run(); }

bool is_operator_word(std::string_view word) { return word == "and" || word == "or" || word == "not"; }

}  // namespace ktune::expr
