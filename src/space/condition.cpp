#include "space/condition.h"

#include <algorithm>

namespace ktune::space {
namespace {

constexpr std::size_t kMostTruths = std::size_t{1} << 22;  // a byte each
constexpr std::size_t kMostValues = std::size_t{1} << 18;  // eight

}  // namespace

Binding::Binding(const expr::Program& program, const std::vector<Axis>& axes, const expr::Scope& problem,
                 std::size_t most)
    : values_(program.names().size(), 0) {
  expr::Scope known = problem;
  for (std::size_t name = 0; name < program.names().size(); ++name) {
    const auto axis = std::find_if(axes.begin(), axes.end(),
                                   [&](const Axis& candidate) { return candidate.name == program.names()[name]; });
    if (axis == axes.end()) {
      if (const std::int64_t* value = problem.find(program.names()[name])) values_[name] = *value;
      continue;
    }
    Use use{static_cast<std::size_t>(axis - axes.begin()), name, combinations_, {}};
    for (const model::Value& value : axis->values) use.numbers.push_back(value.number);
    depth_ = std::max(depth_, use.axis + 1);
    combinations_ = combinations_ > most ? combinations_ : combinations_ * use.numbers.size();
    uses_.push_back(std::move(use));
    known.set(axis->name, axis->values.front().number);
  }
  if (combinations_ > most) combinations_ = 0;
  const bool unbound = std::any_of(program.names().begin(), program.names().end(),
                                   [&](const std::string& name) { return known.find(name) == nullptr; });
  if (unbound) program.evaluate(known);  // throws, with the name's place and a suggestion
}

Condition::Condition(const model::Expression& expression, const std::vector<Axis>& axes, const expr::Scope& problem)
    : program_(expression), binding_(program_, axes, problem, kMostTruths), memo_(binding_.combinations(), kUnknown) {}

Quantity::Quantity(const model::Expression& expression, const std::vector<Axis>& axes, const expr::Scope& problem)
    : program_(expression), binding_(program_, axes, problem, kMostValues), memo_(binding_.combinations(), kUnknown) {}

}  // namespace ktune::space
