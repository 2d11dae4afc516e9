#pragma once

#include <string>

#include "report/report.h"

namespace ktune::report {

/// Schema ktune.report/1: {"schema", "rows": [a row's metrics in their order], "notes"}.
std::string print_json(const Report& report, int width, bool colour);

}  // namespace ktune::report
