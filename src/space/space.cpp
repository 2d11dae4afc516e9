#include "space/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <numeric>

#include "base/error.h"
#include "expr/excerpt.h"
#include "space/rules.h"

// The walk. Parameters are axes in the spec's order; a point is a value an axis, the last axis fastest. Each constraint
// belongs to the depth at which its last name is bound, and is tested there, so that what it rules out is counted as a
// whole subtree. Constraints, `when`s and sizes of launches are remembered by the values of the few axes they use
// (condition.h): the walk then costs a table look-up an expression, not an evaluation.
//
// Where a parameter's `when` does not hold, all its values stand for the same variant: the walk takes the one value
// `otherwise` and counts the other points of the axis as duplicates. That `otherwise` need not be one of the values.

namespace ktune::space {
namespace {

constexpr std::int64_t kMostVariants = 20'000'000;  // 8 bytes each here; a strategy's order is as much again
constexpr std::int64_t kStepsBetweenStops = 256;    // a step whose launch has no value took 9 us: 2 ms

/// Points below one node of each depth: subtree[d] = Π of the axes from d on. Throws Error(kUsage) when the axes have
/// more than 2^63 combinations, each `otherwise` included: they would not fit into Tuples.
std::vector<std::int64_t> subtrees_of(const model::OpSpec& spec, const std::vector<Axis>& axes) {
  std::vector<std::int64_t> subtrees(axes.size() + 1, 1);
  std::int64_t combinations = 1;
  for (std::size_t d = axes.size(); d-- > 0;) {
    const auto values = static_cast<std::int64_t>(std::max<std::size_t>(1, axes[d].values.size()));
    if (__builtin_mul_overflow(subtrees[d + 1], static_cast<std::int64_t>(axes[d].count), &subtrees[d]) ||
        __builtin_mul_overflow(combinations, values, &combinations)) {
      throw Error(ErrorKind::kUsage, fmt::format("the space of {} has more than 2^63 points", spec.name),
                  "narrow a parameter with --param NAME=VALUES", spec.spec_path);
    }
  }
  return subtrees;
}

class Walk {
 public:
  Walk(const model::OpSpec& spec, const expr::Scope& problem, const Enumeration& how)
      : spec_(spec),
        stop_(how.stop),
        rules_(spec, problem, how.target),
        subtrees_(subtrees_of(spec, rules_.axes())),
        choice_(rules_.axes().size(), 0),
        valid_(rules_.axes()) {}

  Space run() {
    try {
      if (!rejected(0)) descend(0);
    } catch (const std::bad_alloc&) {
      throw too_many("out of memory after {} variants in the space of {}");
    }
    std::map<std::string, std::int64_t> rejected;
    for (std::size_t i = 0; i < rejected_.size(); ++i)
      if (rejected_[i] > 0) rejected[rules_.reasons()[i]] = rejected_[i];
    if (duplicates_ > 0) rejected[kDuplicate] = duplicates_;
    return Space(rules_.axes(), std::move(valid_), {subtrees_[0], std::move(rejected), fewest_launches_});
  }

 private:
  /// Tests what is bound once `depth` axes are chosen, and counts the subtree if a rule is broken.
  bool rejected(std::size_t depth) {
    if (++steps_ % kStepsBetweenStops == 0 && stop_ && stop_()) stopped_ = true;
    const std::size_t reason = rules_.broken(depth, choice_);
    if (reason == Rules::kNone) return false;
    if (reason >= rejected_.size()) rejected_.resize(reason + 1, 0);
    rejected_[reason] += subtrees_[depth];
    return true;
  }

  void descend(std::size_t depth) {
    if (stopped_) return;
    if (depth == choice_.size()) {
      keep();
      return;
    }
    const Axis& axis = rules_.axes()[depth];
    if (!rules_.applies(depth, choice_)) {
      duplicates_ += (static_cast<std::int64_t>(axis.count) - 1) * subtrees_[depth + 1];
      choice_[depth] = axis.otherwise;
      if (!rejected(depth + 1)) descend(depth + 1);
      return;
    }
    for (std::size_t i = 0; i < axis.count && !stopped_; ++i) {
      choice_[depth] = i;
      if (!rejected(depth + 1)) descend(depth + 1);
    }
  }

  void keep() {
    if (valid_.size() == kMostVariants) throw too_many("more than {} variants in the space of {}");
    valid_.push(choice_);
    const int launches = rules_.launches();
    fewest_launches_ = fewest_launches_ == 0 ? launches : std::min(fewest_launches_, launches);
  }

  Error too_many(const char* text) const {
    return {ErrorKind::kUsage, fmt::format(fmt::runtime(text), valid_.size(), spec_.name),
            "add constraints, or narrow a parameter with --param NAME=VALUES", spec_.spec_path};
  }

  const model::OpSpec& spec_;
  const std::function<bool()>& stop_;
  Rules rules_;
  std::vector<std::int64_t> subtrees_;
  Choice choice_;
  Tuples valid_;
  std::vector<std::int64_t> rejected_;  ///< points by the rules' reasons
  std::int64_t duplicates_ = 0;
  int fewest_launches_ = 0;
  std::int64_t steps_ = 0;  ///< values tried
  bool stopped_ = false;
};

/// " (BLOCK_SIZE = 256, num_warps = 16)": the values of the names an expression uses.
std::string values_put_in(const model::Expression& expression, const expr::Scope& scope) {
  const std::string values = expr::values_in(expression, scope);
  return values.empty() ? "" : fmt::format(" ({})", values);
}

/// "division by zero in '8 / A' (A = 0)".
std::string text_of(const expr::Rejection& rejection) {
  return rejection.values.empty() ? rejection.reason : fmt::format("{} ({})", rejection.reason, rejection.values);
}

/// Why a parameter cannot have this value, or nothing.
std::optional<std::string> explain_value(const model::Parameter& parameter, const model::Value& value,
                                         const expr::Scope& scope) {
  const auto applies =
      parameter.when ? expr::try_evaluate(*parameter.when, scope) : tl::expected<std::int64_t, expr::Rejection>(1);
  if (!applies) return fmt::format("{}: whether it applies: {}", parameter.name, text_of(applies.error()));
  if (*applies == 0) {
    if (value.number == parameter.otherwise.number) return std::nullopt;
    return fmt::format("{} = {}, but it is {} where '{}' does not hold{}: {}", parameter.name, value.text(),
                       parameter.otherwise.text(), parameter.when->text, values_put_in(*parameter.when, scope),
                       kDuplicate);
  }
  const std::vector<model::Value>& values = parameter.all_values();
  const auto same = [&](const model::Value& other) { return other.number == value.number; };
  if (std::none_of(values.begin(), values.end(), same)) {
    return fmt::format("{} = {} is not one of its values", parameter.name, value.text());
  }
  if (std::none_of(parameter.values.begin(), parameter.values.end(), same)) {
    return fmt::format("{} = {} is left out by the narrowed values", parameter.name, value.text());
  }
  return std::nullopt;
}

}  // namespace

Space::Space(std::vector<Axis> axes, Tuples valid, Account account)
    : axes_(std::move(axes)), valid_(std::move(valid)), account_(std::move(account)) {}

model::Variant Space::variant(std::int64_t id) const {
  if (id >= valid_.size()) return added_.at(static_cast<std::size_t>(id - valid_.size()));
  return variant_of(axes_, valid_.at(id));
}

std::optional<std::int64_t> Space::find(const model::Variant& variant) const {
  if (const auto at = std::find(added_.begin(), added_.end(), variant); at != added_.end())
    return valid_.size() + (at - added_.begin());
  const auto choice = choice_of(axes_, variant);
  return choice ? valid_.find(*choice) : std::nullopt;
}

std::int64_t Space::not_enumerated() const {
  return std::accumulate(rejected().begin(), rejected().end(), enumerated() - size(),
                         [](std::int64_t left, const auto& entry) { return left - entry.second; });
}

std::int64_t Space::find_or_add(const model::Variant& variant) {
  if (const auto id = find(variant)) return *id;
  ++account_.enumerated;
  added_.push_back(variant);
  return size() - 1;
}

Space enumerate(const model::OpSpec& spec, const expr::Scope& problem, const Enumeration& how) {
  return Walk(spec, problem, how).run();
}

std::optional<std::string> explain(const model::OpSpec& spec, const expr::Scope& problem,
                                   const model::Variant& variant) {
  expr::Scope scope = problem;
  for (const model::Parameter& parameter : spec.params) {
    const auto found = std::find_if(variant.values.begin(), variant.values.end(),
                                    [&](const auto& entry) { return entry.first == parameter.name; });
    if (found == variant.values.end()) return fmt::format("it gives {} no value", parameter.name);
    if (auto why = explain_value(parameter, found->second, scope)) return why;
    scope.set(parameter.name, found->second.number);
  }
  for (const model::Constraint& constraint : spec.constraints) {
    const auto holds = expr::try_evaluate(constraint.expr, scope);
    if (!holds) return fmt::format("{}: {}", constraint.why, text_of(holds.error()));
    if (*holds != 0) continue;
    return fmt::format("{}: '{}' does not hold{}", constraint.why, constraint.expr.text,
                       values_put_in(constraint.expr, scope));
  }
  return std::nullopt;
}

}  // namespace ktune::space
