#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "expr/excerpt.h"
#include "expr/resolve.h"

// The default variant. A default may use other parameters, before or after its own ("num_warps =
// 'BLOCK_SIZE >= 4096 ? 8 : 4'"), so the parameters are settled in the order their names allow: in each round those
// whose `when` and default use only what is settled.

namespace ktune::expr {
namespace {

bool all_bound(const model::Expression& expression, const Scope& scope, const model::OpSpec& spec) {
  const Program program(expression, scope.lets());
  return std::all_of(program.names().begin(), program.names().end(), [&](const std::string& name) {
    const bool is_parameter = std::any_of(spec.params.begin(), spec.params.end(),
                                          [&](const model::Parameter& parameter) { return parameter.name == name; });
    return !is_parameter || scope.find(name) != nullptr;
  });
}

const model::Expression& rule_of(const model::OpSpec& spec, const model::Parameter& parameter) {
  for (const auto& [name, expression] : spec.defaults) {
    if (name == parameter.name) return expression;
  }
  throw Error(ErrorKind::kUsage, "[default] gives parameter '" + parameter.name + "' no value", {},
              excerpt(parameter.at));
}

model::Value listed_value(const model::Parameter& parameter, const model::Expression& rule, std::int64_t number) {
  std::vector<std::string> texts;
  for (const model::Value& value : parameter.all_values()) {
    if (value.number == number) return value;
    texts.push_back(value.text());
  }
  fail_at(rule, 0, static_cast<int>(rule.text.size()),
          "the default of '" + parameter.name + "' is " + std::to_string(number) + ", which is not one of its values",
          "values: " + join(texts, ", "));
}

/// The value a parameter has under the rule, or nothing while a name it needs is not settled.
std::optional<model::Value> settle(const model::OpSpec& spec, const model::Parameter& parameter, const Scope& scope) {
  if (parameter.when) {
    if (!all_bound(*parameter.when, scope, spec)) return std::nullopt;
    if (evaluate(*parameter.when, scope) == 0) return parameter.otherwise;
  }
  const model::Expression& rule = rule_of(spec, parameter);
  if (!all_bound(rule, scope, spec)) return std::nullopt;
  return listed_value(parameter, rule, evaluate(rule, scope));
}

void check_constraints(const model::OpSpec& spec, const Scope& scope, const model::Variant& variant) {
  for (const model::Constraint& constraint : spec.constraints) {
    if (evaluate(constraint.expr, scope) != 0) continue;
    fail_at(constraint.expr, 0, static_cast<int>(constraint.expr.text.size()),
            "the default variant " + variant.text() + " breaks a constraint: " + constraint.why,
            "change the rule in [default] or the constraint");
  }
}

}  // namespace

model::Variant default_variant(const model::OpSpec& spec, const Scope& problem) {
  Scope scope = problem;
  std::vector<std::optional<model::Value>> values(spec.params.size());
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t i = 0; i < spec.params.size(); ++i) {
      if (values[i]) continue;
      values[i] = settle(spec, spec.params[i], scope);
      if (!values[i]) continue;
      scope.set(spec.params[i].name, values[i]->number);
      progress = true;
    }
  }
  model::Variant variant;
  for (std::size_t i = 0; i < spec.params.size(); ++i) {
    const model::Parameter& parameter = spec.params[i];
    if (!values[i]) {
      const model::Expression& rule = rule_of(spec, parameter);
      fail_at(rule, 0, static_cast<int>(rule.text.size()),
              "the default of '" + parameter.name + "' depends on itself through other parameters");
    }
    variant.values.emplace_back(parameter.name, *values[i]);
  }
  check_constraints(spec, scope, variant);
  return variant;
}

}  // namespace ktune::expr
