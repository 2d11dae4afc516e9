#pragma once

#include "expr/code.h"
#include "model/op_spec.h"

namespace ktune::expr {

/// Compiles one text. Names stay names, also those of lets. Throws Error(kUsage) with the place of the first mistake.
Fragment parse(const model::Expression& expression);

/// Whether a word is an operator wherever it stands, so that nothing may have it as a name: `and`, `or`, `not`.
/// (`in` is an operator only after a value, so that a dim may be called `in`.)
bool is_operator_word(std::string_view word);

}  // namespace ktune::expr
