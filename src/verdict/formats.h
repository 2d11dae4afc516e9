#pragma once

#include <string>
#include <vector>

#include "base/format.h"
#include "verdict/result.h"

namespace ktune::verdict {

/// What a gate can be printed as: the formats of every document, some in the gate's own words, and those of CI systems.
const std::vector<Format<Result>>& formats();

/// What `--format json` wrote, whole. Throws Error(kUsage) at `where` (a file name) with the field that is wrong: text
/// that is not JSON or was cut, another schema, a field that is missing or of another type, and a verdict that is
/// better than its rows.
Result parse_result(const std::string& text, const std::string& where);

}  // namespace ktune::verdict
