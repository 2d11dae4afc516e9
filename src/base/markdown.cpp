#include "base/format.h"

namespace ktune {
namespace {

std::string markdown_cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += "<br>";
      continue;
    }
    if (c != '\t' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)) continue;
    if (c == '|') result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

std::string Table::markdown() const {
  std::string titles = "|", rule = "|";
  for (const Column& column : columns) {
    if (column.audience == Audience::kPrograms) continue;
    titles.append(" ").append(markdown_cell(column.title)).append(" |");
    rule += column.right ? " ---: |" : " --- |";
  }
  std::string result = titles + '\n' + rule + '\n';
  for (const auto& row : rows) {
    result += '|';
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (columns[c].audience == Audience::kPrograms) continue;
      result.append(" ").append(markdown_cell(cell_of(row, c).text)).append(" |");
    }
    result += '\n';
  }
  return result;
}

/// Headings, and tables whose cells escape '|'.
std::string print_markdown(const Document& document, int, bool) {
  std::string out;
  for (const Section& section : document.sections) {
    if (section.audience == Audience::kPrograms) continue;
    if (!out.empty()) out += '\n';
    if (!section.title.empty()) out += "## " + section.title + "\n\n";
    for (std::size_t i = 0; i < section.legend.size(); ++i)
      out += section.legend[i] + (i + 1 < section.legend.size() ? "  \n" : "\n");
    if (!section.legend.empty() && !section.table.columns.empty()) out += '\n';
    if (!section.table.columns.empty()) out += section.table.markdown();
    if (!section.remarks.empty()) out += '\n';
    for (const std::string& remark : section.remarks) out += "- " + remark + '\n';
  }
  if (!document.notes.empty()) out += '\n';
  for (const std::string& note : document.notes) out += "- " + note + '\n';
  if (!document.summary.empty()) out += '\n' + document.summary + '\n';
  return out;
}

}  // namespace ktune
