#include "expr/tokens.h"

#include <algorithm>
#include <string_view>

#include "expr/arithmetic.h"
#include "expr/excerpt.h"

namespace ktune::expr {
namespace {

using Kind = Token::Kind;

constexpr std::size_t kLongestText = 2000;
constexpr std::size_t kLongestName = 100;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name(char c) { return is_name_start(c) || is_digit(c); }

class Tokenizer {
 public:
  explicit Tokenizer(const model::Expression& expression) : expression_(expression), text_(expression.text) {}

  std::vector<Token> run() {
    if (text_.size() > kLongestText) {
      fail_at(expression_, 0, 1, "the expression is longer than " + std::to_string(kLongestText) + " characters");
    }
    while (true) {
      while (at_ < text_.size() &&
             (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
        ++at_;
      if (at_ == text_.size()) break;
      next();
    }
    push(Kind::kEnd, 0);
    return std::move(tokens_);
  }

 private:
  void push(Kind kind, std::size_t length) {
    tokens_.push_back(Token{kind, std::string(text_.substr(at_, length)), static_cast<int>(at_)});
    at_ += length;
  }

  [[noreturn]] void fail(std::size_t length, const std::string& message, const std::string& hint = {}) const {
    fail_at(expression_, static_cast<int>(at_), static_cast<int>(length), message, hint);
  }

  std::size_t run_length(bool (*accepts)(char)) const {
    const auto* end = std::find_if_not(text_.begin() + at_, text_.end(), accepts);
    return static_cast<std::size_t>(end - text_.begin()) - at_;
  }

  void next() {
    if (is_digit(text_[at_])) return number();
    if (is_name_start(text_[at_])) {
      const std::size_t length = run_length(is_name);
      if (length > kLongestName)
        fail(length, "the name is longer than " + std::to_string(kLongestName) + " characters");
      return push(Kind::kName, length);
    }
    symbol();
  }

  void number() {
    const std::size_t length = run_length([](char c) { return is_name(c) || c == '.'; });
    const std::string_view digits = text_.substr(at_, length);
    if (!std::all_of(digits.begin(), digits.end(), is_digit)) {
      fail(length, "'" + std::string(digits) + "' is not an integer", "an expression works on decimal integers");
    }
    if (digits.size() > 16 || std::stoll(std::string(digits)) > kLargest) {
      fail(length, "'" + std::string(digits) + "' is beyond 2^53");
    }
    push(Kind::kNumber, length);
  }

  void symbol() {
    const std::string_view two = text_.substr(at_, 2);
    if (two == "&&") return push(Kind::kAnd, 2);
    if (two == "||") return push(Kind::kOr, 2);
    if (two == "<=" || two == ">=" || two == "==" || two == "!=") return push(Kind::kOperator, 2);
    switch (text_[at_]) {
      case '+':
      case '-':
      case '*':
      case '/':
      case '%':
      case '<':
      case '>':
      case '!':
        return push(Kind::kOperator, 1);
      case '(':
        return push(Kind::kOpen, 1);
      case ')':
        return push(Kind::kClose, 1);
      case ',':
        return push(Kind::kComma, 1);
      case '?':
        return push(Kind::kQuestion, 1);
      case ':':
        return push(Kind::kColon, 1);
      case '=':
        fail(1, "'=' would assign", "compare with '=='");
      case '&':
      case '|':
        fail(1, std::string("there is no operator '") + text_[at_] + "'", "logical and, or are '&&', '||'");
      case '.':
        fail(1, "a number is an integer, without a point");
      default:
        break;
    }
    std::size_t length = 1;  // a whole UTF-8 sequence
    while (at_ + length < text_.size() && (static_cast<unsigned char>(text_[at_ + length]) & 0xC0U) == 0x80U) ++length;
    fail(1, "unexpected character '" + std::string(text_.substr(at_, length)) + "'");
  }

  const model::Expression& expression_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(const model::Expression& expression) { return Tokenizer(expression).run(); }

}  // namespace ktune::expr
