#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace ktune {

/// The row of a table whose `name` this is. Throws Error(kUsage): "unknown WHAT 'x'; did you mean …", the names as
/// hint.
template <typename Row>
const Row& find_named(const std::vector<Row>& rows, std::string_view name, const std::string& what,
                      const std::string& plural) {
  std::vector<std::string> names;
  for (const Row& row : rows) {
    if (row.name == name) return row;
    names.emplace_back(row.name);
  }
  throw Error(ErrorKind::kUsage, "unknown " + what + " '" + std::string(name) + "'" + did_you_mean(name, names),
              plural + ": " + join(names, ", "));
}

}  // namespace ktune
