#include "base/table.h"

#include <algorithm>
#include <string_view>

#include "base/terminal.h"
#include "base/text.h"

namespace ktune {
namespace {

constexpr int kGap = 2;

std::string one_line(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '\r') continue;
    result += c == '\n' || c == '\t' ? ' ' : c;
  }
  return result;
}

const std::string& cell_of(const std::vector<std::string>& row, std::size_t column) {
  static const std::string kEmpty;
  return column < row.size() ? row[column] : kEmpty;
}

std::vector<int> column_widths(const Table& table) {
  std::vector<int> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    int width = display_width(one_line(table.columns[c].title));
    for (const auto& row : table.rows) width = std::max(width, display_width(one_line(cell_of(row, c))));
    widths.push_back(width);
  }
  return widths;
}

/// Which columns are shown: the highest priority numbers go first, among equals the rightmost.
std::vector<bool> shown_columns(const Table& table, const std::vector<int>& widths, int limit) {
  std::vector<bool> shown(widths.size(), true);
  if (limit <= 0 || widths.empty()) return shown;
  int total = kGap * (static_cast<int>(widths.size()) - 1);
  for (int width : widths) total += width;
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

std::string padded(std::string_view text, int width, bool right) {
  std::string spaces(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
  return right ? spaces + std::string(text) : std::string(text) + spaces;
}

std::string markdown_cell(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '|') result += '\\';
    if (c == '\r') continue;
    if (c == '\n') {
      result += "<br>";
    } else {
      result += c;
    }
  }
  return result;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

}  // namespace

std::string Table::term(int width, bool colour) const {
  const std::vector<int> widths = column_widths(*this);
  const std::vector<bool> shown = shown_columns(*this, widths, width);
  auto line = [&](auto&& cell) {
    std::string text;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!shown[c]) continue;
      if (!text.empty()) text.append(kGap, ' ');
      text += padded(one_line(cell(c)), widths[c], columns[c].right);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::string result = styled(line([&](std::size_t c) { return columns[c].title; }), Style::kBold, colour) + '\n';
  for (const auto& row : rows) result += line([&](std::size_t c) { return cell_of(row, c); }) + '\n';
  std::vector<std::string> dropped;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!shown[c]) dropped.push_back(columns[c].title);
  }
  if (!dropped.empty()) {
    result += "not shown at this width: " + join(dropped, ", ") + " (--format " + full_format + " has every column)\n";
  }
  return result;
}

std::string Table::markdown() const {
  std::string result = "|";
  for (const Column& column : columns) result.append(" ").append(markdown_cell(column.title)).append(" |");
  result += "\n|";
  for (const Column& column : columns) result += column.right ? " ---: |" : " --- |";
  result += '\n';
  for (const auto& row : rows) {
    result += '|';
    for (std::size_t c = 0; c < columns.size(); ++c) {
      result.append(" ").append(markdown_cell(cell_of(row, c))).append(" |");
    }
    result += '\n';
  }
  return result;
}

std::string Table::csv() const {
  std::string result;
  auto add_line = [&](auto&& cell) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (c > 0) result += ',';
      result += csv_cell(cell(c));
    }
    result += '\n';
  };
  add_line([&](std::size_t c) { return columns[c].title; });
  for (const auto& row : rows) add_line([&](std::size_t c) { return cell_of(row, c); });
  return result;
}

std::string wrapped(const std::string& text, int width, const std::string& first, const std::string& rest) {
  std::string out, line = first;
  bool fresh = true;
  for (const std::string& word : split(text, ' ')) {
    if (!fresh && width > 0 && display_width(line) + 1 + display_width(word) > width) {
      out += line + '\n';
      line = rest;
      fresh = true;
    }
    if (!fresh) line += ' ';
    line += word;
    fresh = false;
  }
  return out + line + '\n';
}

std::string fitted(const Table& table, int width, bool colour) {
  const std::string text = table.term(width, colour);
  const std::size_t at = text.rfind("\nnot shown at this width: ");
  if (at == std::string::npos) return text;
  const std::string last = text.substr(at + 1, text.size() - at - 2);
  return text.substr(0, at + 1) + wrapped(last, width, "", "  ");
}

}  // namespace ktune
