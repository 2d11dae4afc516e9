#pragma once

#include <string>
#include <vector>

#include "model/op_spec.h"

namespace ktune::expr {

struct Token {
  enum class Kind { kNumber, kName, kOperator, kOpen, kClose, kComma, kQuestion, kColon, kAnd, kOr, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;
  int offset = 0;  ///< characters into the expression
};

/// The tokens of an expression, a kEnd token last. Throws Error(kUsage) marking the place: a character that means
/// nothing here, an assignment, a number that is not a decimal integer of at most 2^53.
std::vector<Token> tokenize(const model::Expression& expression);

}  // namespace ktune::expr
