#include "space/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "expr/excerpt.h"
#include "space/condition.h"

// The walk. Parameters are axes in the spec's order; a point is a value an axis, the last axis fastest. Each constraint
// belongs to the depth at which its last name is bound, and is tested there, so that what it rules out is counted as a
// whole subtree. Constraints and `when`s are memoised by the values of the few axes they use (condition.h): the walk
// then costs a table look-up a constraint, not an evaluation.
//
// Where a parameter's `when` does not hold, all its values stand for the same variant: the walk takes the one value
// `otherwise` and counts the other points of the axis as duplicates. That `otherwise` need not be one of the values.

namespace ktune::space {
namespace {

constexpr std::int64_t kMostVariants = 20'000'000;

/// Points below one node of each depth: subtree[d] = Π of the axes from d on. Throws Error(kUsage) when the axes have
/// more than 2^63 combinations, each `otherwise` included: they would not fit into Tuples.
std::vector<std::int64_t> subtrees_of(const model::OpSpec& spec, const std::vector<Axis>& axes) {
  std::vector<std::int64_t> subtrees(axes.size() + 1, 1);
  std::int64_t combinations = 1;
  for (std::size_t d = axes.size(); d-- > 0;) {
    subtrees[d] = subtrees[d + 1] * static_cast<std::int64_t>(axes[d].count);
    const auto values = static_cast<std::int64_t>(std::max<std::size_t>(1, axes[d].values.size()));
    if (__builtin_mul_overflow(combinations, values, &combinations)) {
      throw Error(ErrorKind::kUsage, fmt::format("the space of {} has more than 2^63 points", spec.name),
                  "narrow a parameter with --param NAME=VALUES", spec.spec_path);
    }
  }
  return subtrees;
}

class Walk {
 public:
  Walk(const model::OpSpec& spec, const expr::Scope& problem)
      : spec_(spec),
        axes_(axes_of(spec)),
        subtrees_(subtrees_of(spec, axes_)),
        choice_(axes_.size(), 0),
        valid_(axes_) {
    at_depth_.resize(axes_.size() + 1);
    for (const model::Constraint& constraint : spec.constraints) {
      Condition condition(constraint.expr, axes_, problem);
      // Depth d: the first d axes are chosen.
      at_depth_[condition.depth()].push_back({std::move(condition), &rejected_[constraint.why]});
    }
    for (const model::Parameter& parameter : spec.params) {
      applies_.push_back(parameter.when ? std::make_optional(Condition(*parameter.when, axes_, problem))
                                        : std::nullopt);
    }
    duplicates_ = &rejected_[kDuplicate];
  }

  Space run() {
    if (!rejected(0)) descend(0);
    std::erase_if(rejected_, [](const auto& entry) { return entry.second == 0; });
    return Space(std::move(axes_), std::move(valid_), subtrees_[0], std::move(rejected_));
  }

 private:
  struct Test {
    Condition condition;
    std::int64_t* rejected;
  };

  /// Tests what is bound once `depth` axes are chosen, and counts the subtree if a constraint fails.
  bool rejected(std::size_t depth) {
    for (Test& test : at_depth_[depth]) {
      if (test.condition.holds(choice_)) continue;
      *test.rejected += subtrees_[depth];
      return true;
    }
    return false;
  }

  void descend(std::size_t depth) {
    if (depth == axes_.size()) {
      keep();
      return;
    }
    const Axis& axis = axes_[depth];
    if (applies_[depth] && !applies_[depth]->holds(choice_)) {
      *duplicates_ += (static_cast<std::int64_t>(axis.count) - 1) * subtrees_[depth + 1];
      choice_[depth] = axis.otherwise;
      if (!rejected(depth + 1)) descend(depth + 1);
      return;
    }
    for (std::size_t i = 0; i < axis.count; ++i) {
      choice_[depth] = i;
      if (!rejected(depth + 1)) descend(depth + 1);
    }
  }

  void keep() {
    if (valid_.size() == kMostVariants) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("the space of {} has more than {} variants", spec_.name, kMostVariants),
                  "add constraints, or narrow a parameter with --param NAME=VALUES", spec_.spec_path);
    }
    valid_.push(choice_);
  }

  const model::OpSpec& spec_;
  std::vector<Axis> axes_;
  std::vector<std::int64_t> subtrees_;
  Choice choice_;
  std::vector<std::vector<Test>> at_depth_;
  std::vector<std::optional<Condition>> applies_;
  std::int64_t* duplicates_ = nullptr;
  Tuples valid_;
  std::map<std::string, std::int64_t> rejected_;
};

/// " (BLOCK_SIZE = 256, num_warps = 16)": the values of the names an expression uses.
std::string values_put_in(const model::Expression& expression, const expr::Scope& scope) {
  const expr::Program program(expression);
  std::string text;
  for (const std::string& name : program.names()) {
    const std::int64_t* value = scope.find(name);
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value != nullptr ? *value : 0);
  }
  return text.empty() ? "" : fmt::format(" ({})", text);
}

/// Why a parameter cannot have this value, or nothing.
std::optional<std::string> explain_value(const model::Parameter& parameter, const model::Value& value,
                                         const expr::Scope& scope) {
  if (parameter.when && expr::evaluate(*parameter.when, scope) == 0) {
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

std::vector<Axis> axes_of(const model::OpSpec& spec) {
  std::vector<Axis> axes;
  for (const model::Parameter& parameter : spec.params) {
    Axis axis;
    axis.name = parameter.name;
    axis.values = parameter.values;
    axis.count = parameter.values.size();
    if (parameter.when) {
      const auto found = std::find_if(axis.values.begin(), axis.values.end(), [&](const model::Value& value) {
        return value.number == parameter.otherwise.number;
      });
      axis.otherwise = static_cast<std::size_t>(found - axis.values.begin());
      if (found == axis.values.end()) axis.values.push_back(parameter.otherwise);
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

Space::Space(std::vector<Axis> axes, Tuples valid, std::int64_t enumerated,
             std::map<std::string, std::int64_t> rejected)
    : axes_(std::move(axes)), valid_(std::move(valid)), enumerated_(enumerated), rejected_(std::move(rejected)) {}

model::Variant Space::variant(std::int64_t id) const {
  if (id >= valid_.size()) return added_.at(static_cast<std::size_t>(id - valid_.size()));
  const Choice choice = valid_.at(id);
  model::Variant variant;
  variant.values.reserve(axes_.size());
  for (std::size_t d = 0; d < axes_.size(); ++d) variant.values.emplace_back(axes_[d].name, axes_[d].values[choice[d]]);
  return variant;
}

std::optional<std::int64_t> Space::find(const model::Variant& variant) const {
  if (const auto at = std::find(added_.begin(), added_.end(), variant); at != added_.end())
    return valid_.size() + (at - added_.begin());
  if (variant.values.size() != axes_.size()) return std::nullopt;
  Choice choice;
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    const auto& [name, value] = variant.values[d];
    const auto at = std::find(axes_[d].values.begin(), axes_[d].values.end(), value);
    if (name != axes_[d].name || at == axes_[d].values.end()) return std::nullopt;
    choice.push_back(static_cast<std::size_t>(at - axes_[d].values.begin()));
  }
  return valid_.find(choice);
}

std::int64_t Space::find_or_add(const model::Variant& variant) {
  if (const auto id = find(variant)) return *id;
  ++enumerated_;
  added_.push_back(variant);
  return size() - 1;
}

Space enumerate(const model::OpSpec& spec, const expr::Scope& problem) { return Walk(spec, problem).run(); }

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
    if (expr::evaluate(constraint.expr, scope) != 0) continue;
    return fmt::format("{}: '{}' does not hold{}", constraint.why, constraint.expr.text,
                       values_put_in(constraint.expr, scope));
  }
  return std::nullopt;
}

}  // namespace ktune::space
