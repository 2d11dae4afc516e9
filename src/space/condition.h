#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "expr/expr.h"
#include "model/op_spec.h"
#include "space/axis.h"

// Expressions over a few axes, remembered by the values of those: each is evaluated once for each combination that a
// walk meets. Only combinations the walk reaches are evaluated, so one that would divide by zero in a pruned branch is
// no error.

namespace ktune::space {

/// The names that expressions use: axes, or constants of the problem.
class Binding {
 public:
  /// At most `most` combinations of the axes' values are numbered.
  Binding(const std::vector<std::string>& names, const std::vector<Axis>& axes, const expr::Scope& problem,
          std::size_t most);

  /// One more than the last axis among the names; 0 when there is none.
  std::size_t depth() const { return depth_; }
  /// Of the axes' values; 0 when they are too many to number.
  std::size_t combinations() const { return combinations_; }
  /// The number of a choice's combination.
  std::size_t key(const Choice& choice) const {
    std::size_t key = 0;
    for (const Use& use : uses_) key += choice[use.axis] * use.stride;
    return key;
  }
  /// The names' values at a choice, in their order.
  const std::vector<std::int64_t>& values(const Choice& choice) {
    for (const Use& use : uses_) values_[use.name] = use.numbers[choice[use.axis]];
    return values_;
  }

 private:
  struct Use {
    std::size_t axis;
    std::size_t name;  ///< its index
    std::size_t stride;
    std::vector<std::int64_t> numbers;
  };

  std::vector<std::int64_t> values_;
  std::vector<Use> uses_;
  std::size_t combinations_ = 1;
  std::size_t depth_ = 0;
};

/// Throws Error(kUsage) for a name that is neither an axis nor the problem's, with its place and a suggestion.
void check_names(const expr::Program& program, const std::vector<Axis>& axes, const expr::Scope& problem);

/// An expression that holds or does not.
class Condition {
 public:
  /// Throws Error(kUsage) for a name that is neither an axis nor the problem's.
  Condition(const model::Expression& expression, const std::vector<Axis>& axes, const expr::Scope& problem);

  /// One more than the last axis it uses; 0 when it uses none.
  std::size_t depth() const { return binding_.depth(); }

  /// Whether it is not 0 at a choice. Throws Error(kUsage) for an evaluation error.
  bool holds(const Choice& choice) {
    if (memo_.empty()) return evaluate(choice);
    std::uint8_t& known = memo_[binding_.key(choice)];
    if (known == kUnknown) known = evaluate(choice) ? kTrue : kFalse;
    return known == kTrue;
  }

 private:
  enum : std::uint8_t { kUnknown, kTrue, kFalse };

  bool evaluate(const Choice& choice) { return program_.evaluate(binding_.values(choice)) != 0; }

  expr::Program program_;
  Binding binding_;
  std::vector<std::uint8_t> memo_;  ///< empty when the combinations are too many
};

/// An expression with a value.
class Quantity {
 public:
  /// Throws Error(kUsage) for a name that is neither an axis nor the problem's.
  Quantity(const model::Expression& expression, const std::vector<Axis>& axes, const expr::Scope& problem);

  /// Its value at a choice. Throws Error(kUsage) for an evaluation error.
  std::int64_t value(const Choice& choice) {
    if (memo_.empty()) return program_.evaluate(binding_.values(choice));
    std::int64_t& known = memo_[binding_.key(choice)];
    if (known == kUnknown) known = program_.evaluate(binding_.values(choice));
    return known;
  }

 private:
  static constexpr std::int64_t kUnknown = INT64_MIN;

  expr::Program program_;
  Binding binding_;
  std::vector<std::int64_t> memo_;  ///< empty when the combinations are too many
};

}  // namespace ktune::space
