#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "report/json.h"
#include "report/report.h"
#include "report/tables.h"

namespace ktune::report {

const std::vector<Format>& formats() {
  static const std::vector<Format> kFormats{
      {"term", "tables as wide as the terminal", print_term},
      {"md", "Markdown tables", print_markdown},
      {"csv", "one line a row, every column", print_csv},
      {"json", "schema ktune.report/1, every column; `ktune report FILE` reads it again", print_json},
      {"html", "one page of tables", print_html},
  };
  return kFormats;
}

const Format& find_format(std::string_view name) {
  std::vector<std::string> names;
  for (const Format& format : formats()) {
    if (format.name == name) return format;
    names.emplace_back(format.name);
  }
  throw Error(ErrorKind::kUsage, fmt::format("unknown format '{}'{}", name, did_you_mean(name, names)),
              "formats: " + join(names, ", "));
}

}  // namespace ktune::report
