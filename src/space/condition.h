#pragma once

#include <cstdint>
#include <vector>

#include "expr/expr.h"
#include "model/op_spec.h"
#include "space/tuples.h"

namespace ktune::space {

/// An expression over a few axes, remembered by their values: it is evaluated once for each combination it meets.
/// Only combinations the walk reaches are evaluated, so one that would divide by zero in a pruned branch is no error.
class Condition {
 public:
  /// Binds the names that are not axes. Throws Error(kUsage) for a name that is neither.
  Condition(const model::Expression& expression, const std::vector<Axis>& axes, const expr::Scope& problem);

  /// One more than the last axis it uses; 0 when it uses none.
  std::size_t depth() const { return depth_; }

  /// Whether it is not 0 at a choice of values (indices). Throws Error(kUsage) for an evaluation error.
  bool holds(const Choice& choice) {
    if (memo_.empty()) return evaluate(choice);
    std::size_t key = 0;
    for (const Use& use : uses_) key += choice[use.axis] * use.stride;
    if (memo_[key] == kUnknown) memo_[key] = evaluate(choice) ? kTrue : kFalse;
    return memo_[key] == kTrue;
  }

 private:
  enum : std::uint8_t { kUnknown, kTrue, kFalse };

  struct Use {
    std::size_t axis;
    std::size_t name;    ///< index into the program's names
    std::size_t stride;  ///< in memo_
    std::vector<std::int64_t> numbers;
  };

  bool evaluate(const Choice& choice);

  expr::Program program_;
  std::vector<std::int64_t> values_;  ///< by the program's names
  std::vector<Use> uses_;
  std::vector<std::uint8_t> memo_;  ///< empty when the combinations are too many
  std::size_t depth_ = 0;
};

}  // namespace ktune::space
