#include "base/format.h"

namespace ktune {

const std::vector<Format<Document>>& document_formats() {
  static const std::vector<Format<Document>> kFormats{
      {"term", "tables as wide as the terminal", print_term},
      {"md", "Markdown tables", print_markdown},
      {"csv", "one line a row, every column", print_csv},
      {"json", "every value, under a schema", print_json},
      {"html", "one page of tables", print_html},
  };
  return kFormats;
}

}  // namespace ktune
