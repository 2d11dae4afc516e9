#pragma once

#include <string>
#include <vector>

#include "base/table.h"
#include "report/report.h"

namespace ktune::report {

/// The rows of one op, device, timer and cache state: what one table shows.
struct Section {
  std::string title;                ///< "rmsnorm on NVIDIA H200, events, cold L2"
  std::vector<std::string> legend;  ///< sessions, what the variant column holds, what every row shares
  Table table;
  std::vector<std::string> remarks;
};

std::vector<Section> sections_of(const Report& report);

std::string print_term(const Report& report, int width, bool colour);
std::string print_markdown(const Report& report, int width, bool colour);
std::string print_csv(const Report& report, int width, bool colour);
std::string print_html(const Report& report, int width, bool colour);

}  // namespace ktune::report
