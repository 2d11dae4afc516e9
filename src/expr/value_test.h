#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/error.h"
#include "expr/expr.h"

// What tests of expressions share.

namespace ktune::expr {

inline constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

inline std::int64_t value(const std::string& text, const Scope& scope = {}) {
  return Program(model::Expression{text, {}}).evaluate(scope);
}

inline Scope scope_of(std::initializer_list<std::pair<const char*, std::int64_t>> values) {
  Scope scope;
  for (const auto& [name, number] : values) scope.set(name, number);
  return scope;
}

/// "MESSAGE" or "MESSAGE | HINT" of the error an expression gives.
inline std::string error_of(const std::string& text, const Scope& scope = {}) {
  try {
    value(text, scope);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.message() + (error.hint().empty() ? "" : " | " + error.hint());
  }
  return "no error";
}

}  // namespace ktune::expr
