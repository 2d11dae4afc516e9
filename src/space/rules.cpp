#include "space/rules.h"

#include <algorithm>

namespace ktune::space {

Rules::Rules(const model::OpSpec& spec, const expr::Scope& problem, const std::optional<Target>& target)
    : axes_(axes_of(spec)), at_depth_(axes_.size() + 1) {
  for (const model::Constraint& constraint : spec.constraints) {
    Condition condition(constraint.expr, axes_, problem);
    const std::size_t depth = condition.depth();
    at_depth_[depth].push_back({std::move(condition), reason(constraint.why)});
  }
  for (const model::Parameter& parameter : spec.params)
    whens_.push_back(parameter.when ? std::make_optional(Condition(*parameter.when, axes_, problem)) : std::nullopt);
  if (target) launches_.emplace(spec, axes_, problem, *target);
}

std::size_t Rules::reason(const std::string& text) {
  const auto at = std::find(reasons_.begin(), reasons_.end(), text);
  if (at != reasons_.end()) return static_cast<std::size_t>(at - reasons_.begin());
  reasons_.push_back(text);
  return reasons_.size() - 1;
}

std::size_t Rules::broken(std::size_t depth, const Choice& choice) {
  for (Constraint& constraint : at_depth_[depth]) {
    const Truth truth = constraint.condition.holds(choice);
    if (truth == Truth::kFails) return reason(constraint.condition.failure(choice));
    if (truth == Truth::kFalse) return constraint.reason;
  }
  if (depth < axes_.size()) {
    std::optional<Condition>& when = whens_[depth];
    return when && when->holds(choice) == Truth::kFails ? reason(when->failure(choice)) : kNone;
  }
  if (!launches_) return kNone;
  const auto refusal = launches_->refusal(choice);
  return refusal ? reason(*refusal) : kNone;
}

bool Rules::valid(const Choice& choice) {
  if (broken(0, choice) != kNone) return false;
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    const bool own = choice[d] < axes_[d].count;
    const bool right = applies(d, choice) ? own : choice[d] == axes_[d].otherwise;
    if (!right || broken(d + 1, choice) != kNone) return false;
  }
  return true;
}

}  // namespace ktune::space
