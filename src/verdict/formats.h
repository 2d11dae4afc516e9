#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "verdict/result.h"

namespace ktune::verdict {

struct Format {
  std::string_view name;
  std::string_view summary;
  /// Width 0: no limit. Only `term` looks at width and colour.
  std::string (*print)(const Result&, int width, bool colour);
};
/// The one table of `gate --format` and `--out`.
const std::vector<Format>& formats();
/// Throws Error(kUsage) with the format that was meant, and all of them.
const Format& find_format(std::string_view name);

/// What `--format json` wrote, whole. Throws Error(kUsage) at `where` (a file name) with the field that is wrong: text
/// that is not JSON or was cut, another schema, a field that is missing or of another type, and a verdict that is
/// better than its rows.
Result parse_result(const std::string& text, const std::string& where);

}  // namespace ktune::verdict
