#include "space/axis.h"

#include <algorithm>

namespace ktune::space {

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

model::Variant variant_of(const std::vector<Axis>& axes, const Choice& choice) {
  model::Variant variant;
  variant.values.reserve(axes.size());
  for (std::size_t d = 0; d < axes.size(); ++d) variant.values.emplace_back(axes[d].name, axes[d].values[choice[d]]);
  return variant;
}

std::optional<Choice> choice_of(const std::vector<Axis>& axes, const model::Variant& variant) {
  if (variant.values.size() != axes.size()) return std::nullopt;
  Choice choice;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const auto& [name, value] = variant.values[d];
    const auto at = std::find(axes[d].values.begin(), axes[d].values.end(), value);
    if (name != axes[d].name || at == axes[d].values.end()) return std::nullopt;
    choice.push_back(static_cast<std::size_t>(at - axes[d].values.begin()));
  }
  return choice;
}

}  // namespace ktune::space
