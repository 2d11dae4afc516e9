#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "spec/sections.h"
#include "spec/spec.h"

// What the command line says of parameters: --param narrows them, --variant names one point.

namespace ktune::spec {
namespace {

std::size_t parameter_index(const model::OpSpec& spec, const std::string& name) {
  for (std::size_t i = 0; i < spec.params.size(); ++i) {
    if (spec.params[i].name == name) return i;
  }
  const std::vector<std::string> known = names_of(spec.params);
  throw Error(ErrorKind::kUsage, fmt::format("{} has no parameter '{}'{}", spec.name, name, did_you_mean(name, known)),
              fmt::format("parameters: {}", join(known, ", ")));
}

/// NAME and what follows its '='.
std::pair<std::string, std::string> split_assignment(const std::string& text, const char* form) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) throw Error(ErrorKind::kUsage, fmt::format("'{}' is not {}", text, form));
  return {std::string(trim(std::string_view(text).substr(0, equals))), text.substr(equals + 1)};
}

model::Value value_named(const model::Parameter& parameter, std::string_view text, bool with_otherwise) {
  std::vector<model::Value> values = parameter.all_values();
  if (with_otherwise && parameter.when) values.push_back(parameter.otherwise);
  std::vector<std::string> known;
  for (const model::Value& value : values) {
    if (value.text() == trim(text)) return value;
    if (std::find(known.begin(), known.end(), value.text()) == known.end()) known.push_back(value.text());
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("'{}' is not a value of {}{}", trim(text), parameter.name, did_you_mean(trim(text), known)),
              fmt::format("values: {}", join(known, ", ")));
}

}  // namespace

model::OpSpec narrow(model::OpSpec spec, const std::vector<std::string>& params) {
  std::vector<std::vector<model::Value>> kept(spec.params.size());
  for (const std::string& text : params) {
    const auto [name, values] = split_assignment(text, "NAME=VALUE,VALUE,…");
    const std::size_t i = parameter_index(spec, name);
    for (const std::string& value : split(values, ',')) kept[i].push_back(value_named(spec.params[i], value, false));
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i].empty()) continue;
    model::Parameter& parameter = spec.params[i];
    if (parameter.listed.empty()) parameter.listed = parameter.values;
    // The spec's order, whatever order they were given in.
    std::erase_if(parameter.values, [&](const model::Value& value) {
      return std::find(kept[i].begin(), kept[i].end(), value) == kept[i].end();
    });
  }
  return spec;
}

std::vector<std::pair<std::string, std::string>> variant_assignments(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> assignments;
  if (trim(text).empty()) return assignments;
  for (const std::string& part : split(text, ',')) {
    auto [name, value] = split_assignment(part, "NAME=VALUE");
    for (const auto& [known, other] : assignments)
      if (known == name) throw Error(ErrorKind::kUsage, fmt::format("variant '{}' gives {} twice", text, name));
    assignments.emplace_back(std::move(name), trim(value));
  }
  return assignments;
}

model::Variant parse_variant(const model::OpSpec& spec, const std::string& text, const model::Variant& fallback) {
  std::vector<std::optional<model::Value>> values(spec.params.size());
  for (const auto& [name, value] : variant_assignments(text)) {
    const std::size_t i = parameter_index(spec, name);
    values[i] = value_named(spec.params[i], value, true);
  }
  model::Variant variant;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& name = spec.params[i].name;
    for (const auto& [given, value] : fallback.values) {
      if (given == name && !values[i]) values[i] = value;
    }
    if (!values[i]) throw Error(ErrorKind::kUsage, fmt::format("variant '{}' gives {} no value", text, name));
    variant.values.emplace_back(name, *values[i]);
  }
  return variant;
}

}  // namespace ktune::spec
