#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "expr/expr.h"
#include "spec/located.h"
#include "spec/problem_parts.h"
#include "spec/sections.h"
#include "spec/spec.h"

// A [[problem]] table. Its dims come first: strides and offsets may be expressions over them, and are evaluated here,
// since a problem is plain numbers. A type bound to a list of dtypes makes a problem of each.

namespace ktune::spec {
namespace {

const std::vector<std::string> kUses{"sweep", "verify", "cpu", "bench"};

std::vector<std::string> read_uses(Fields& fields) {
  std::vector<std::string> uses;
  for (const Text& use : fields.texts("use")) {
    if (std::find(kUses.begin(), kUses.end(), use.text) == kUses.end()) {
      fail(use, fmt::format("unknown use '{}'{}", use.text, did_you_mean(use.text, kUses)),
           fmt::format("uses: {}", join(kUses, ", ")));
    }
    uses.push_back(use.text);
  }
  if (uses.empty()) fields.missing("use");
  return uses;
}

std::int64_t number(const Text& text, const expr::Scope& dims) { return expr::evaluate(text, dims); }

expr::Scope read_dims(Fields& fields, const model::OpSpec& spec, model::Problem& problem) {
  expr::Scope scope;
  auto dims = fields.table_if("dims");
  if (!dims) fields.missing("dims");
  for (const Text& name : dims->keys()) {
    const Text text = dims->expression(name.text);
    const std::int64_t size = number(text, {});
    located(name, [&] { check_dim(spec, name.text, size); });
    scope.set(name.text, size);
    problem.dims.emplace_back(name.text, size);
  }
  for (const std::string& dim : spec.dims) {
    if (scope.find(dim) == nullptr) fail(dims->at(), fmt::format("the problem gives dim '{}' no size", dim));
  }
  return scope;
}

/// One problem a combination of the listed types.
std::vector<model::Problem> read_types_of(Fields& fields, const model::OpSpec& spec, const model::Problem& base) {
  std::vector<model::Problem> result{base};
  auto types = fields.table_if("types");
  if (!types) return result;
  for (const Text& name : types->keys()) {
    std::vector<model::Problem> expanded;
    const std::vector<Text> values = types->texts(name.text);
    for (const model::Problem& problem : result) {
      for (const Text& value : values) {
        located(find_named(spec.types, name.text) == nullptr ? name : value,
                [&] { check_type_binding(spec, name.text, value.text); });
        expanded.push_back(problem);
        expanded.back().types.emplace_back(name.text, value.text);
      }
    }
    if (values.empty()) fail(name, fmt::format("the type '{}' has no dtypes", name.text));
    result = std::move(expanded);
  }
  return result;
}

void read_operands(Fields& fields, const model::OpSpec& spec, const expr::Scope& dims, model::Problem& problem) {
  if (auto strides = fields.table_if("strides")) {
    for (const Text& name : strides->keys()) {
      std::vector<std::int64_t> values;
      for (const Text& stride : strides->expressions(name.text)) values.push_back(number(stride, dims));
      located(name, [&] { check_strides(spec, name.text, values); });
      problem.strides.emplace_back(name.text, std::move(values));
    }
  }
  if (auto offsets = fields.table_if("offsets")) {
    for (const Text& name : offsets->keys()) {
      const std::int64_t offset = number(offsets->expression(name.text), dims);
      located(name, [&] { check_offset(spec, name.text, offset); });
      problem.offsets.emplace_back(name.text, offset);
    }
  }
  if (auto inits = fields.table_if("init")) {
    for (const Text& name : inits->keys()) {
      located(name, [&] { check_init(spec, name.text); });
      problem.inits.emplace_back(name.text, parse_init(inits->text(name.text)));
    }
  }
  if (auto scalars = fields.table_if("scalars")) {
    for (const Text& name : scalars->keys()) {
      located(name, [&] { check_scalar(spec, name.text); });
      problem.scalars.emplace_back(name.text, *scalars->number_if(name.text));
    }
  }
}

void read_attrs_of(Fields& fields, const model::OpSpec& spec, model::Problem& problem) {
  auto attrs = fields.table_if("attrs");
  if (!attrs) return;
  for (const Text& name : attrs->keys()) {
    const Item item = *attrs->item_if(name.text);
    const Text& blamed = find_named(spec.attrs, name.text) == nullptr ? name : item.text;
    located(blamed, [&] { problem.attrs.emplace_back(name.text, attribute_value(spec, name.text, item.text.text)); });
  }
}

}  // namespace

void read_problems(Fields& root, model::OpSpec& spec) {
  for (Fields& fields : root.tables("problem")) {
    model::Problem base;
    base.op = spec.name;
    const std::vector<std::string> uses = read_uses(fields);
    const expr::Scope dims = read_dims(fields, spec, base);
    read_attrs_of(fields, spec, base);
    read_operands(fields, spec, dims, base);
    base.weight = fields.number_if("weight").value_or(1.0);
    if (!(base.weight > 0.0)) fail(fields.at(), "a problem's weight is above 0");
    for (model::Problem& problem : read_types_of(fields, spec, base)) {
      model::ProblemSpec entry;
      entry.use = uses;
      entry.has_types = spec.types.empty() || find_entry(problem.types, spec.types[0].name) != nullptr;
      entry.at = fields.at().at;
      located(fields.at(), [&] { complete_problem(spec, problem); });
      entry.problem = std::move(problem);
      spec.problems.push_back(std::move(entry));
    }
    fields.finish();
  }
}

}  // namespace ktune::spec
