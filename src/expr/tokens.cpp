#include "expr/tokens.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "expr/excerpt.h"

namespace ktune::expr {
namespace {

using Kind = Token::Kind;

constexpr std::size_t kLongestText = 2000;
constexpr std::size_t kLongestName = 100;
constexpr std::uint64_t kLargest = std::uint64_t{1} << 63;
constexpr std::array<std::string_view, 9> kTwoCharacterOperators{"&&", "||", "<=", ">=", "==", "!=", "//", "<<", ">>"};
constexpr std::string_view kOneCharacterOperators = "+-*/%<>!&|^~";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hexadecimal(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name(char c) { return is_name_start(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Tokenizer {
 public:
  explicit Tokenizer(const model::Expression& expression) : expression_(expression), text_(expression.text) {}

  std::vector<Token> run() {
    if (text_.size() > kLongestText) {
      fail_at(expression_, 0, 1, "the expression is longer than " + std::to_string(kLongestText) + " characters");
    }
    while (true) {
      while (at_ < text_.size() && is_space(text_[at_])) ++at_;
      if (at_ == text_.size()) break;
      next();
    }
    push(Kind::kEnd, 0);
    return std::move(tokens_);
  }

 private:
  void push(Kind kind, std::size_t length, std::uint64_t number = 0) {
    tokens_.push_back(Token{kind, std::string(text_.substr(at_, length)), static_cast<int>(at_), number});
    at_ += length;
  }

  [[noreturn]] void fail(std::size_t length, const std::string& message, const std::string& hint = {}) const {
    fail_at(expression_, static_cast<int>(at_), static_cast<int>(length), message, hint);
  }

  template <typename Accepts>
  std::size_t run_length(Accepts accepts) const {
    std::size_t end = at_;
    while (end < text_.size() && accepts(text_[end])) ++end;
    return end - at_;
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
    const std::string_view text = text_.substr(at_, length);
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    const std::string_view digits = hexadecimal ? text.substr(2) : text;
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), hexadecimal ? is_hexadecimal : is_digit)) {
      fail(length, "'" + std::string(text) + "' is not an integer",
           "an expression works on integers: decimal, or hexadecimal as in 0x1F");
    }
    std::uint64_t value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
    if (read.ec != std::errc() || value > kLargest) fail(length, "'" + std::string(text) + "' is beyond 2^63 - 1");
    push(Kind::kNumber, length, value);
  }

  void symbol() {
    const std::string_view two = text_.substr(at_, 2);
    if (std::find(kTwoCharacterOperators.begin(), kTwoCharacterOperators.end(), two) != kTwoCharacterOperators.end()) {
      return push(Kind::kOperator, 2);
    }
    if (kOneCharacterOperators.find(text_[at_]) != std::string_view::npos) return push(Kind::kOperator, 1);
    switch (text_[at_]) {
      case '(':
        return push(Kind::kOpen, 1);
      case ')':
        return push(Kind::kClose, 1);
      case '[':
        return push(Kind::kOpenList, 1);
      case ']':
        return push(Kind::kCloseList, 1);
      case ',':
        return push(Kind::kComma, 1);
      case '?':
        return push(Kind::kQuestion, 1);
      case ':':
        return push(Kind::kColon, 1);
      case '=':
        fail(1, "'=' would assign", "compare with '=='");
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
