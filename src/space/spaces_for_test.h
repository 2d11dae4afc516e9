#pragma once

#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "expr/resolve.h"
#include "space/space.h"

namespace ktune::space {

inline model::Expression ex(std::string text) { return {std::move(text), {}}; }

inline model::Parameter axis(std::string name, std::vector<std::int64_t> numbers) {
  model::Parameter parameter;
  parameter.name = std::move(name);
  for (const std::int64_t number : numbers) parameter.values.push_back({number, ""});
  return parameter;
}

inline expr::Scope scope_of(std::initializer_list<std::pair<const char*, std::int64_t>> values) {
  expr::Scope scope;
  for (const auto& [name, number] : values) scope.set(name, number);
  return scope;
}

inline std::vector<std::string> texts(const Space& space) {
  std::vector<std::string> result;
  for (std::int64_t id = 0; id < space.size(); ++id) result.push_back(space.variant(id).text());
  return result;
}

inline std::int64_t accounted(const Space& space) {
  return std::accumulate(space.rejected().begin(), space.rejected().end(), space.size(),
                         [](std::int64_t sum, const auto& entry) { return sum + entry.second; });
}

}  // namespace ktune::space
