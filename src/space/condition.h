#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "expr/expr.h"
#include "model/op_spec.h"
#include "space/axis.h"

// Expressions over a few axes, remembered by the values of those: each is evaluated once for each combination that a
// walk meets. A let counts as what it uses.

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

/// What a condition says of a choice. kFails: it has no value there (an overflow, a division by zero).
enum class Truth : std::uint8_t { kUnknown, kTrue, kFalse, kFails };

/// Why a program has no value for these values of its names.
inline std::string reason_of(const expr::Program& program, const std::vector<std::int64_t>& values) {
  return program.rejection(program.run(values), values).reason;
}

/// An expression that holds or does not.
class Condition {
 public:
  /// Throws Error(kUsage) for a name that is neither an axis nor the problem's.
  Condition(const model::Expression& expression, const std::vector<Axis>& axes, const expr::Scope& problem);

  /// One more than the last axis it uses; 0 when it uses none.
  std::size_t depth() const { return binding_.depth(); }

  /// Whether it is not 0 at a choice; never kUnknown.
  Truth holds(const Choice& choice) {
    if (memo_.empty()) return evaluate(choice);
    Truth& known = memo_[binding_.key(choice)];
    if (known == Truth::kUnknown) known = evaluate(choice);
    return known;
  }
  /// Why it fails at a choice where holds() says kFails: "division by zero in '8 / A > 1'".
  std::string failure(const Choice& choice) { return reason_of(program_, binding_.values(choice)); }

 private:
  Truth evaluate(const Choice& choice) {
    const expr::Evaluation result = program_.run(binding_.values(choice));
    if (!result.ok()) return Truth::kFails;
    return result.value != 0 ? Truth::kTrue : Truth::kFalse;
  }

  expr::Program program_;
  Binding binding_;
  std::vector<Truth> memo_;  ///< empty when the combinations are too many
};

/// An expression with a value.
class Quantity {
 public:
  /// Throws Error(kUsage) for a name that is neither an axis nor the problem's.
  Quantity(const model::Expression& expression, const std::vector<Axis>& axes, const expr::Scope& problem);

  /// Its value at a choice; nothing when it has none there.
  std::optional<std::int64_t> value(const Choice& choice) {
    if (!memo_.empty()) {
      if (const std::int64_t known = memo_[binding_.key(choice)]; known != kUnknown) return known;
    }
    const expr::Evaluation result = program_.run(binding_.values(choice));
    if (!result.ok()) return std::nullopt;
    if (!memo_.empty()) memo_[binding_.key(choice)] = result.value;
    return result.value;
  }
  /// Why it has no value at a choice.
  std::string failure(const Choice& choice) { return reason_of(program_, binding_.values(choice)); }

 private:
  static constexpr std::int64_t kUnknown = INT64_MIN;

  expr::Program program_;
  Binding binding_;
  std::vector<std::int64_t> memo_;  ///< empty when the combinations are too many
};

}  // namespace ktune::space
