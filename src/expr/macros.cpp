#include <set>

#include "base/error.h"
#include "expr/layout.h"
#include "expr/resolve.h"

namespace ktune::expr {
namespace {

/// NAME=number, then NAME_<value>=number for each enumerated value, each once.
void add(model::Macros& macros, const std::string& name, const model::Value& value,
         const std::vector<model::Value>& listed) {
  macros.emplace_back(name, std::to_string(value.number));
  std::set<std::string> seen;
  for (const model::Value& other : listed) {
    if (!other.name.empty() && seen.insert(other.name).second) {
      macros.emplace_back(name + "_" + other.name, std::to_string(other.number));
    }
  }
}

}  // namespace

model::Macros macros_of(const model::OpSpec& spec, const model::Problem& problem, const model::Variant& variant) {
  model::Macros macros;
  for (const model::Parameter& parameter : spec.params) {
    const model::Value* value = nullptr;
    for (const auto& [name, candidate] : variant.values) {
      if (name == parameter.name) value = &candidate;
    }
    KTUNE_CHECK(value != nullptr);
    // All values, also of a narrowed parameter: a kernel names the constants of values this sweep leaves out.
    std::vector<model::Value> listed = parameter.all_values();
    if (parameter.when) listed.push_back(parameter.otherwise);
    add(macros, parameter.name, *value, listed);
  }
  for (const model::Attribute& attribute : spec.attrs) {
    const model::Value* value = &attribute.default_value;
    for (const auto& [name, candidate] : problem.attrs) {
      if (name == attribute.name) value = &candidate;
    }
    add(macros, attribute.name, *value, attribute.values);
  }
  for (const model::TypeParam& type : spec.types) {
    macros.emplace_back(type.name, std::string(cuda_name(dtype_of(problem, type.name))));
  }
  for (const std::string& name : spec.static_dims) {
    for (const auto& [dim, size] : problem.dims) {
      if (dim == name) macros.emplace_back("DIM_" + name, std::to_string(size));
    }
  }
  return macros;
}

}  // namespace ktune::expr
