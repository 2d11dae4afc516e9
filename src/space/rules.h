#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "space/condition.h"
#include "space/launches.h"

namespace ktune::space {

/// What makes a point of the axes a variant: the constraints, each parameter's `when`, and what a device can launch.
/// They are asked depth by depth, the first `depth` axes being chosen: each constraint belongs to the depth at which
/// its last name is bound, the limits to the last one. An expression without a value breaks a rule, with itself as
/// reason.
class Rules {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// Without a target launches are not looked at. Throws Error(kUsage) for an expression that does not parse or names
  /// nothing.
  Rules(const model::OpSpec& spec, const expr::Scope& problem, const std::optional<Target>& target = std::nullopt);

  const std::vector<Axis>& axes() const { return axes_; }

  /// Why no variant begins with the first `depth` of the choice's values, of which all but the last passed before: an
  /// index into reasons(), or kNone.
  std::size_t broken(std::size_t depth, const Choice& choice);
  /// Whether the axis, where nothing is broken so far, has its own values behind the choice's earlier ones; if not, it
  /// has `otherwise` only.
  bool applies(std::size_t axis, const Choice& choice) {
    return !whens_[axis] || whens_[axis]->holds(choice) == Truth::kTrue;
  }
  /// Whether the whole choice is a variant.
  bool valid(const Choice& choice);

  /// Launches of the choice that passed broken() at the last depth; 0 without a target.
  int launches() const { return launches_ ? launches_->count() : 0; }

  /// The `why` of each constraint, and what else broken() met.
  const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  struct Constraint {
    Condition condition;
    std::size_t reason;
  };

  std::size_t reason(const std::string& text);

  std::vector<Axis> axes_;
  std::vector<std::vector<Constraint>> at_depth_;
  std::vector<std::optional<Condition>> whens_;
  std::optional<Launches> launches_;
  std::vector<std::string> reasons_;
};

}  // namespace ktune::space
