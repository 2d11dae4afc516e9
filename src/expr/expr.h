#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "expr/code.h"
#include "model/op_spec.h"
#include "model/outcome.h"

// Integer expressions. Values are 64-bit integers; what does not fit is a failure, never a wrong value. From the
// operators that bind tightest to the loosest:
//
//   - + ! ~                  one value: negation, plus, logical not, complement
//   * / // % | +  - | << >>  / truncates toward zero, // rounds down, % has the sign of the dividend
//   & | ^ | |                bits; they bind more tightly than comparisons, as in Python
//   < <= > >= == != in       1 or 0; they do not chain. `x in [a, b]`: x is equal to one of the list; also `not in`
//   not                      as ! of the whole comparison
//   && and | || or           1 or 0; the second side is evaluated only if the first does not decide
//   ?:                       only the taken branch is evaluated
//
// Functions: cdiv min max clamp next_pow2 is_pow2 gcd (arithmetic.h). Numbers are decimal or hexadecimal (0x1F). What
// is not evaluated cannot fail.

namespace ktune::expr {

/// The named expressions of a spec: an expression may use one wherever it may use a name.
class Lets {
 public:
  Lets() = default;
  explicit Lets(std::vector<model::Let> lets);

  /// The let of that name, or null.
  const model::Let* find(std::string_view name) const;
  const std::vector<model::Let>& all() const { return lets_; }
  /// Differs for lets that differ, in a text or a place.
  const std::string& key() const { return key_; }

 private:
  std::vector<model::Let> lets_;
  std::map<std::string, std::size_t, std::less<>> places_;  ///< by name
  std::string key_;
};

/// Names and what they stand for: integers, or the spec's lets.
class Scope {
 public:
  void set(std::string name, std::int64_t value) { values_[std::move(name)] = value; }
  const std::int64_t* find(std::string_view name) const;
  const std::map<std::string, std::int64_t, std::less<>>& values() const { return values_; }

  void set_lets(std::vector<model::Let> lets) { lets_ = std::make_shared<const Lets>(std::move(lets)); }
  const Lets& lets() const;

 private:
  std::map<std::string, std::int64_t, std::less<>> values_;
  std::shared_ptr<const Lets> lets_;
};

/// Why an expression has no value that can be used: what rejects one variant.
struct Rejection {
  std::string reason;            ///< "division by zero in 'N / V'": without values, so that variants count together
  std::string values;            ///< "N = 8, V = 0"; "" when the expression has no names
  model::Expression expression;  ///< what failed: a let's own expression when it was in a let

  /// As what became of a trial: Rejected. The detail says where the expression is, and the values.
  model::Failure failure() const;
  /// Throws it as Error(kUsage) that marks the expression: for what no variant escapes.
  [[noreturn]] void raise() const;
};

/// A parsed expression with the lets it uses. Evaluating it changes nothing in it.
class Program {
 public:
  /// Parses, and binds the lets. Throws Error(kUsage) with position and caret for bad syntax, an unknown function, a
  /// let that uses itself.
  explicit Program(model::Expression source, const Lets& lets = {});
  ~Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;

  /// The names it needs values for, each once, sorted: its own and those of its lets.
  const std::vector<std::string>& names() const;
  /// The names in its own text, each once, sorted; lets among them.
  const std::vector<std::string>& own_names() const;
  /// The lets it uses, those of its lets included.
  const std::vector<model::Let>& lets() const;
  const model::Expression& source() const;

  /// Its value. Throws Error(kUsage) that marks the place (in a let: the let's own line): an unbound name ("did you
  /// mean"), and whatever rejects a variant.
  std::int64_t evaluate(const Scope& scope) const;

  /// Its value, or why it has none. Throws for an unbound name only: that is a mistake in the spec.
  tl::expected<std::int64_t, Rejection> try_evaluate(const Scope& scope) const;

  /// The fast path of enumeration: `values[i]` belongs to `names()[i]`. Allocates nothing unless there are lets.
  Evaluation run(const std::vector<std::int64_t>& values) const;
  /// What a failed run means.
  Rejection rejection(const Evaluation& failed, const std::vector<std::int64_t>& values) const;

  /// "N = 8, V = 0": the values of own_names(); a let without a value is left out.
  std::string values_text(const std::vector<std::int64_t>& values) const;
  /// The values of names() in a scope. Throws Error(kUsage) for an unbound one.
  std::vector<std::int64_t> bind(const Scope& scope) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One-shot: parses (cached by text, place and the scope's lets) and evaluates. Throws as Program::evaluate.
std::int64_t evaluate(const model::Expression& expression, const Scope& scope);
/// The same as a value. Throws for what does not parse and for an unbound name.
tl::expected<std::int64_t, Rejection> try_evaluate(const model::Expression& expression, const Scope& scope);
/// "N = 8, V = 0": the values of an expression's own names; "" when it has none.
std::string values_in(const model::Expression& expression, const Scope& scope);

}  // namespace ktune::expr
