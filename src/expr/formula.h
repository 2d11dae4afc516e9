#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/op_spec.h"

namespace ktune::expr {

/// An expression rewritten for muParser.
struct Formula {
  std::string text;
  std::vector<std::pair<std::string, int>> names;  ///< each name once, sorted, and where it first stands
};

/// muParser spellings of what it has no lazy or prefix form of; formula() emits them, Program defines them.
inline constexpr const char* kNegate = "negate_";
inline constexpr const char* kNot = "not_";
inline constexpr char kEqual = '#';
inline constexpr char kNotEqual = '~';
inline constexpr char kLessEqual = '@';
inline constexpr char kGreaterEqual = '$';

/// Checks the grammar and rewrites. Throws Error(kUsage) with the place of the first mistake.
Formula formula(const model::Expression& expression);

}  // namespace ktune::expr
