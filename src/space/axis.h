#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/op_spec.h"

namespace ktune::space {

/// A parameter as an axis of the space.
struct Axis {
  std::string name;
  std::vector<model::Value> values;  ///< the parameter's, then `otherwise` when it is none of them
  std::size_t count = 0;             ///< the parameter's own values: points of the raw product
  std::size_t otherwise = 0;         ///< index of `otherwise`
};

/// An index into the values of each axis.
using Choice = std::vector<std::size_t>;

/// The parameters as axes, in the spec's order.
std::vector<Axis> axes_of(const model::OpSpec& spec);

model::Variant variant_of(const std::vector<Axis>& axes, const Choice& choice);
/// Nothing for a variant with other parameters, or a value that its axis does not have.
std::optional<Choice> choice_of(const std::vector<Axis>& axes, const model::Variant& variant);

}  // namespace ktune::space
