#include "base/format.h"

namespace ktune {
namespace {

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

std::string csv_text(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::kNothing:
      return "";
    case Cell::Kind::kTruth:
      return cell.text;
    default:
      return cell.value();
  }
}

}  // namespace

std::string Table::csv() const {
  std::string result;
  auto add_line = [&](auto&& cell) {
    bool first = true;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (columns[c].audience == Audience::kPeople) continue;
      if (!first) result += ',';
      first = false;
      result += csv_cell(cell(c));
    }
    result += '\n';
  };
  add_line([&](std::size_t c) { return columns[c].title; });
  for (const auto& row : rows) add_line([&](std::size_t c) { return csv_text(cell_of(row, c)); });
  return result;
}

/// One table for programs (Document::csv_key), one line a row.
std::string print_csv(const Document& document, int, bool) {
  for (const Records& records : records_of(document))
    if (document.csv_key.empty() || records.key == document.csv_key) return records.table.csv();
  return "";
}

}  // namespace ktune
