#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "model/dtype.h"
#include "spec/problem_parts.h"
#include "spec/sections.h"
#include "spec/spec.h"

namespace ktune::spec {
namespace {

using Bindings = std::vector<std::pair<std::string, std::string>>;

[[noreturn]] void refuse(const std::string& message, const std::string& hint = {}) {
  throw Error(ErrorKind::kUsage, message, hint);
}

/// A type's dtype: a value that names an earlier macro stands for that one's.
std::string resolved(const Bindings& earlier, const std::string& value) {
  const std::string* bound = find_entry(earlier, value);
  return bound != nullptr ? *bound : value;
}

void complete_types(const model::OpSpec& spec, model::Problem& problem) {
  for (const auto& [name, value] : problem.types) check_type_binding(spec, name, value);
  Bindings types;
  for (const model::TypeParam& type : spec.types) {
    const std::string* given = find_entry(problem.types, type.name);
    const std::string dtype = resolved(types, given != nullptr ? *given : type.values.front());
    const bool offered = std::any_of(type.values.begin(), type.values.end(),
                                     [&](const std::string& value) { return resolved(types, value) == dtype; });
    if (!offered) {
      refuse(fmt::format("{} does not offer '{}' for {} here", spec.name, dtype, type.name),
             fmt::format("{}: {}", type.name, join(type.values, ", ")));
    }
    types.emplace_back(type.name, dtype);
  }
  problem.types = std::move(types);
}

void complete_dims(const model::OpSpec& spec, model::Problem& problem) {
  for (const auto& [name, size] : problem.dims) check_dim(spec, name, size);
  std::vector<std::pair<std::string, std::int64_t>> dims;
  for (const std::string& name : spec.dims) {
    const std::int64_t* size = find_entry(problem.dims, name);
    if (size == nullptr) refuse(fmt::format("{} needs a size for dim '{}'", spec.name, name));
    dims.emplace_back(name, *size);
  }
  problem.dims = std::move(dims);
}

void complete_attrs(const model::OpSpec& spec, model::Problem& problem) {
  std::vector<std::pair<std::string, model::Value>> attrs;
  for (const auto& [name, value] : problem.attrs) attribute_value(spec, name, value.text());
  for (const model::Attribute& attribute : spec.attrs) {
    const model::Value* given = find_entry(problem.attrs, attribute.name);
    // By its text: the number of a name is the spec's to give.
    attrs.emplace_back(attribute.name, given != nullptr ? attribute_value(spec, attribute.name, given->text())
                                                        : attribute.default_value);
  }
  problem.attrs = std::move(attrs);
}

model::Problem shape_problem(const model::OpSpec& spec, const std::string& shape) {
  model::Problem problem;
  problem.op = spec.name;
  const auto size_of_dim = [&](const std::string& name, const std::string& text) {
    const std::int64_t size = parse_integer(text, fmt::format("the size {} in shape '{}'", name, shape));
    check_dim(spec, name, size);
    return size;
  };
  if (shape.find('=') != std::string::npos) {
    for (const std::string& part : split(shape, ',')) {
      const std::size_t equals = part.find('=');
      if (equals == std::string::npos) refuse(fmt::format("shape '{}': '{}' is not DIM=SIZE", shape, part));
      const std::string name(trim(std::string_view(part).substr(0, equals)));
      check_dim(spec, name, 1);
      if (find_entry(problem.dims, name) != nullptr) refuse(fmt::format("shape '{}' gives {} twice", shape, name));
      problem.dims.emplace_back(name, size_of_dim(name, part.substr(equals + 1)));
    }
    return problem;
  }
  std::string text = shape;
  std::replace(text.begin(), text.end(), 'X', 'x');
  const std::vector<std::string> sizes = split(text, 'x');
  if (sizes.size() != spec.dims.size()) {
    refuse(fmt::format("shape '{}' has {} size{}; {} takes {}", shape, sizes.size(), sizes.size() == 1 ? "" : "s",
                       spec.name, spec.dims.size()),
           fmt::format("dims: {}", join(spec.dims, " x ")));
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    problem.dims.emplace_back(spec.dims[i], size_of_dim(spec.dims[i], sizes[i]));
  }
  return problem;
}

/// "bf16" or "scalar_t=bf16,weight_t=f32".
Bindings dtype_request(const model::OpSpec& spec, const std::string& text) {
  if (spec.types.empty()) refuse(fmt::format("{} has no dtype to choose", spec.name));
  Bindings bindings;
  for (const std::string& part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string name =
        equals == std::string::npos ? spec.types[0].name : std::string(trim(std::string_view(part).substr(0, equals)));
    const std::string dtype(
        trim(equals == std::string::npos ? std::string_view(part) : std::string_view(part).substr(equals + 1)));
    check_type_binding(spec, name, dtype);
    if (find_entry(bindings, name) != nullptr) refuse(fmt::format("dtype '{}' gives {} twice", text, name));
    bindings.emplace_back(name, dtype);
  }
  return bindings;
}

/// The problems before dtypes were asked for, and whether each has its own.
std::vector<std::pair<model::Problem, bool>> base_problems(const model::OpSpec& spec, const ProblemRequest& request) {
  std::vector<std::pair<model::Problem, bool>> result;
  for (const std::string& shape : request.shapes) result.emplace_back(shape_problem(spec, shape), true);
  if (!request.shapes.empty()) return result;
  std::set<std::string> uses;
  for (const model::ProblemSpec& entry : spec.problems) {
    uses.insert(entry.use.begin(), entry.use.end());
    if (std::find(entry.use.begin(), entry.use.end(), request.use) == entry.use.end()) continue;
    result.emplace_back(entry.problem, entry.has_types);
  }
  if (result.empty()) {
    const std::vector<std::string> offered(uses.begin(), uses.end());
    refuse(
        fmt::format("{} has no problem for '{}'", spec.name, request.use),
        offered.empty() ? "give a shape" : fmt::format("give a shape; its problems are for: {}", join(offered, ", ")));
  }
  return result;
}

std::vector<model::Problem> with_dtypes(const model::OpSpec& spec, const model::Problem& base, bool has_types,
                                        const std::vector<Bindings>& requests) {
  std::vector<Bindings> choices = requests;
  if (choices.empty() && !has_types) {
    for (const std::string& dtype : spec.types[0].values) choices.push_back({{spec.types[0].name, dtype}});
  }
  if (choices.empty()) return {base};
  std::vector<model::Problem> result;
  for (const Bindings& choice : choices) {
    result.push_back(base);
    for (const auto& [name, dtype] : choice) assign(result.back().types, name, dtype);
  }
  return result;
}

}  // namespace

model::Problem complete_problem(const model::OpSpec& spec, model::Problem problem) {
  problem.op = spec.name;
  complete_dims(spec, problem);
  complete_types(spec, problem);
  complete_attrs(spec, problem);
  for (const auto& [tensor, strides] : problem.strides) check_strides(spec, tensor, strides);
  for (const auto& [tensor, offset] : problem.offsets) check_offset(spec, tensor, offset);
  for (const auto& [tensor, init] : problem.inits) check_init(spec, tensor);
  for (const auto& [scalar, value] : problem.scalars) check_scalar(spec, scalar);
  return problem;
}

std::vector<model::Problem> select_problems(const model::OpSpec& spec, const ProblemRequest& request) {
  std::vector<Bindings> dtypes;
  for (const std::string& text : request.dtypes) dtypes.push_back(dtype_request(spec, text));
  std::vector<model::Problem> result;
  std::set<std::string> seen;
  for (const auto& [base, has_types] : base_problems(spec, request)) {
    for (model::Problem problem : with_dtypes(spec, base, has_types, dtypes)) {
      for (const auto& [name, value] : request.attrs) assign(problem.attrs, name, attribute_value(spec, name, value));
      problem = complete_problem(spec, std::move(problem));
      if (seen.insert(problem.text()).second) result.push_back(std::move(problem));
    }
  }
  return result;
}

}  // namespace ktune::spec
