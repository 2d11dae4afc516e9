#include "space/condition.h"

#include <algorithm>

namespace ktune::space {
namespace {

constexpr std::size_t kMostRemembered = std::size_t{1} << 22;  // combinations, a byte each

}  // namespace

Condition::Condition(const model::Expression& expression, const std::vector<Axis>& axes, const expr::Scope& problem)
    : program_(expression), values_(program_.names().size(), 0) {
  std::size_t combinations = 1;
  expr::Scope known = problem;
  for (std::size_t name = 0; name < program_.names().size(); ++name) {
    const auto axis = std::find_if(axes.begin(), axes.end(),
                                   [&](const Axis& candidate) { return candidate.name == program_.names()[name]; });
    if (axis == axes.end()) {
      if (const std::int64_t* value = problem.find(program_.names()[name])) values_[name] = *value;
      continue;
    }
    Use use{static_cast<std::size_t>(axis - axes.begin()), name, combinations, {}};
    for (const model::Value& value : axis->values) use.numbers.push_back(value.number);
    depth_ = std::max(depth_, use.axis + 1);
    combinations = combinations > kMostRemembered ? combinations : combinations * use.numbers.size();
    uses_.push_back(std::move(use));
    known.set(axis->name, axis->values.front().number);
  }
  const bool unbound = std::any_of(program_.names().begin(), program_.names().end(),
                                   [&](const std::string& name) { return known.find(name) == nullptr; });
  if (unbound) program_.evaluate(known);  // throws, with the name's place and a suggestion
  if (combinations <= kMostRemembered) memo_.assign(combinations, kUnknown);
}

bool Condition::evaluate(const Choice& choice) {
  for (const Use& use : uses_) values_[use.name] = use.numbers[choice[use.axis]];
  return program_.evaluate(values_) != 0;
}

}  // namespace ktune::space
