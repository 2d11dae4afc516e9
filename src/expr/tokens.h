#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/op_spec.h"

namespace ktune::expr {

struct Token {
  enum class Kind : std::uint8_t {
    kNumber,
    kName,  ///< also the words `and`, `or`, `not` and `in`: the parser tells them by where they stand
    kOperator,
    kOpen,       ///< (
    kClose,      ///< )
    kOpenList,   ///< [
    kCloseList,  ///< ]
    kComma,
    kQuestion,
    kColon,
    kEnd
  };
  Kind kind = Kind::kEnd;
  std::string text;
  int offset = 0;            ///< characters into the expression
  std::uint64_t number = 0;  ///< kNumber: its value, at most 2^63 (which only a minus before it makes fit)
};

/// The tokens of an expression, a kEnd token last. Throws Error(kUsage) marking the place: a character that means
/// nothing here, an assignment, a number that is not a decimal or hexadecimal integer of at most 2^63.
std::vector<Token> tokenize(const model::Expression& expression);

}  // namespace ktune::expr
