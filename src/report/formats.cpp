#include "base/named.h"
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

const Format& find_format(std::string_view name) { return find_named(formats(), name, "format"); }

}  // namespace ktune::report
