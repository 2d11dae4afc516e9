#include "model/op_spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace ktune::model {
namespace {

/// Overrides come in the order they were typed: sorted, so that one problem has one text.
template <typename T>
std::vector<std::pair<std::string, T>> by_name(std::vector<std::pair<std::string, T>> overrides) {
  std::stable_sort(overrides.begin(), overrides.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return overrides;
}

std::string joined(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> texts;
  for (std::int64_t number : numbers) texts.push_back(std::to_string(number));
  return join(texts, ",");
}

}  // namespace

std::string InitSpec::text() const {
  std::string name(name_of(kind));
  switch (kind) {
    case InitKind::kNormal:
    case InitKind::kUniform:
      return a == 0.0 && b == 1.0 ? name : fmt::format("{}({},{})", name, a, b);
    case InitKind::kRandint:
      return fmt::format("{}({},{})", name, a, b);
    case InitKind::kConstant:
      return fmt::format("{}({})", name, a);
    default:
      return name;
  }
}

std::string Problem::text() const {
  std::vector<std::string> parts;
  for (const auto& [name, size] : dims) parts.push_back(fmt::format("{}={}", name, size));
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto& [name, type] = types[i];
    if (i == 0) {
      parts.push_back(type);
    } else if (type != types[0].second) {
      parts.push_back(fmt::format("{}={}", name, type));
    }
  }
  for (const auto& [name, value] : attrs) parts.push_back(fmt::format("{}={}", name, value.text()));
  for (const auto& [name, steps] : by_name(strides)) parts.push_back(fmt::format("{}:strides={}", name, joined(steps)));
  for (const auto& [name, offset] : by_name(offsets)) parts.push_back(fmt::format("{}:offset={}", name, offset));
  for (const auto& [name, value] : by_name(scalars)) parts.push_back(fmt::format("{}={}", name, value));
  for (const auto& [name, init] : by_name(inits)) parts.push_back(fmt::format("{}:init={}", name, init.text()));
  return join(parts, " ");
}

std::string Problem::dtype() const { return types.empty() ? "-" : types[0].second; }

std::string Variant::text() const {
  std::vector<std::string> parts;
  for (const auto& [name, value] : values) parts.push_back(name + "=" + value.text());
  return join(parts, ",");
}

}  // namespace ktune::model
