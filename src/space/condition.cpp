#include "space/condition.h"

#include <algorithm>

namespace ktune::space {
namespace {

constexpr std::size_t kMostTruths = std::size_t{1} << 22;  // a byte each
constexpr std::size_t kMostValues = std::size_t{1} << 18;  // eight

}  // namespace

Binding::Binding(const std::vector<std::string>& names, const std::vector<Axis>& axes, const expr::Scope& problem,
                 std::size_t most)
    : values_(names.size(), 0) {
  for (std::size_t name = 0; name < names.size(); ++name) {
    const auto axis =
        std::find_if(axes.begin(), axes.end(), [&](const Axis& candidate) { return candidate.name == names[name]; });
    if (axis == axes.end()) {
      if (const std::int64_t* value = problem.find(names[name])) values_[name] = *value;
      continue;
    }
    Use use{static_cast<std::size_t>(axis - axes.begin()), name, combinations_, {}};
    for (const model::Value& value : axis->values) use.numbers.push_back(value.number);
    depth_ = std::max(depth_, use.axis + 1);
    combinations_ = combinations_ > most ? combinations_ : combinations_ * use.numbers.size();
    uses_.push_back(std::move(use));
  }
  if (combinations_ > most) combinations_ = 0;
}

void check_names(const expr::Program& program, const std::vector<Axis>& axes, const expr::Scope& problem) {
  expr::Scope known = problem;
  for (const Axis& axis : axes) known.set(axis.name, axis.values.empty() ? 0 : axis.values.front().number);
  program.bind(known);
}

Condition::Condition(const model::Expression& expression, const std::vector<Axis>& axes, const expr::Scope& problem)
    : program_(expression, problem.lets()),
      binding_(program_.names(), axes, problem, kMostTruths),
      memo_(binding_.combinations(), Truth::kUnknown) {
  check_names(program_, axes, problem);
}

Quantity::Quantity(const model::Expression& expression, const std::vector<Axis>& axes, const expr::Scope& problem)
    : program_(expression, problem.lets()),
      binding_(program_.names(), axes, problem, kMostValues),
      memo_(binding_.combinations(), kUnknown) {
  check_names(program_, axes, problem);
}

}  // namespace ktune::space
