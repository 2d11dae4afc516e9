#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/op_spec.h"

namespace ktune::expr {

/// Names and the integers they stand for.
class Scope {
 public:
  void set(std::string name, std::int64_t value) { values_[std::move(name)] = value; }
  const std::int64_t* find(std::string_view name) const;
  const std::map<std::string, std::int64_t, std::less<>>& values() const { return values_; }

 private:
  std::map<std::string, std::int64_t, std::less<>> values_;
};

/// A parsed expression. Integer arithmetic: + − * / (truncating) % comparisons && || ! ?: and the functions cdiv min
/// max clamp next_pow2 is_pow2 gcd. Assignment is refused.
class Program {
 public:
  /// Parses; throws Error(kUsage) with position and caret for bad syntax or an unknown function.
  explicit Program(model::Expression source);
  ~Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;

  /// The names it uses, each once, sorted.
  const std::vector<std::string>& names() const;

  /// Its value. Throws Error(kUsage), naming the expression and its position: an unbound name ("did you mean"),
  /// division by zero, a value that is not an integer or is beyond ±2^53.
  std::int64_t evaluate(const Scope& scope) const;

  /// The fast path of enumeration: `values[i]` belongs to `names()[i]`. Same errors.
  std::int64_t evaluate(const std::vector<std::int64_t>& values) const;

  const model::Expression& source() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One-shot: parse (cached by text) and evaluate.
std::int64_t evaluate(const model::Expression& expression, const Scope& scope);

}  // namespace ktune::expr
