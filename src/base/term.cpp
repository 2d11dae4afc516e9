#include "base/format.h"
#include "base/terminal.h"
#include "base/text.h"

namespace ktune {
namespace {

constexpr int kGap = 2;

/// Without line breaks, and without control characters, which would move a terminal's cursor.
std::string one_line(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n' || c == '\t')
      result += ' ';
    else if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F)
      result += c;
  }
  return result;
}

std::vector<int> column_widths(const Table& table) {
  std::vector<int> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    int width = display_width(one_line(table.columns[c].title));
    for (const auto& row : table.rows) width = std::max(width, display_width(one_line(cell_of(row, c).text)));
    widths.push_back(width);
  }
  return widths;
}

/// Which columns are shown: the highest priority numbers go first, among equals the rightmost.
std::vector<bool> shown_columns(const Table& table, const std::vector<int>& widths, int limit) {
  std::vector<bool> shown;
  int total = -kGap;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    shown.push_back(table.columns[c].audience != Audience::kPrograms);
    if (shown[c]) total += widths[c] + kGap;
  }
  if (limit <= 0 || widths.empty()) return shown;
  while (total > limit) {
    std::size_t victim = widths.size();
    for (std::size_t c = 0; c < widths.size(); ++c) {
      int priority = table.columns[c].priority;
      if (!shown[c] || priority == 0) continue;
      if (victim == widths.size() || priority >= table.columns[victim].priority) victim = c;
    }
    if (victim == widths.size()) break;
    shown[victim] = false;
    total -= widths[victim] + kGap;
  }
  return shown;
}

std::string padded(const std::string& text, Style style, int width, bool right, bool colour) {
  std::string spaces(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
  const std::string shown = styled(text, style, colour);
  return right ? spaces + shown : shown + spaces;
}

}  // namespace

std::string Table::term(int width, bool colour) const {
  const std::vector<int> widths = column_widths(*this);
  const std::vector<bool> shown = shown_columns(*this, widths, width);
  auto line = [&](auto&& cell) {
    std::string text;
    bool first = true;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!shown[c]) continue;
      if (!first) text.append(kGap, ' ');
      first = false;
      const auto [words, style] = cell(c);
      text += padded(one_line(words), style, widths[c], columns[c].right, colour);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  using Piece = std::pair<std::string, Style>;
  std::string result =
      styled(line([&](std::size_t c) { return Piece{columns[c].title, Style::kPlain}; }), Style::kBold, colour) + '\n';
  for (const auto& row : rows)
    result += line([&](std::size_t c) { return Piece{cell_of(row, c).text, cell_of(row, c).style}; }) + '\n';
  std::vector<std::string> dropped;
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (!shown[c] && columns[c].audience != Audience::kPrograms) dropped.push_back(columns[c].title);
  if (!dropped.empty())
    result += "not shown at this width: " + join(dropped, ", ") + " (--format " + full_format + " has every column)\n";
  return result;
}

std::string fitted(const Table& table, int width, bool colour) {
  const std::string text = table.term(width, colour);
  const std::size_t at = text.rfind("\nnot shown at this width: ");
  if (at == std::string::npos) return text;
  const std::string last = text.substr(at + 1, text.size() - at - 2);
  return text.substr(0, at + 1) + wrapped(last, width, "", "  ");
}

/// Sections one after the other, tables as wide as the terminal.
std::string print_term(const Document& document, int width, bool colour) {
  if (document.term) return document.term(width, colour);
  std::string out;
  for (const Section& section : document.sections) {
    if (section.audience == Audience::kPrograms) continue;
    if (!out.empty()) out += '\n';
    if (!section.title.empty()) out += styled(section.title, Style::kBold, colour) + '\n';
    for (const std::string& line : section.legend) out += wrapped(line, width, "  ", "    ");
    if (!section.table.columns.empty()) out += fitted(section.table, width, colour);
    for (const std::string& remark : section.remarks) out += wrapped(remark, width, "note: ", "  ");
  }
  if (!document.notes.empty()) out += '\n';
  for (const std::string& note : document.notes) out += wrapped(note, width, "note: ", "  ");
  if (!document.summary.empty()) out += styled(document.summary, document.summary_style, colour) + '\n';
  return out;
}

}  // namespace ktune
