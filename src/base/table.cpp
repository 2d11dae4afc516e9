#include "base/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace ktune {

Cell Cell::number(double value, std::string text) {
  if (!std::isfinite(value)) return nothing(std::move(text));
  Cell cell = number(std::move(text));
  cell.data = fmt::format("{}", value);
  return cell;
}

Cell Cell::number(std::string text) {
  Cell cell;
  cell.text = std::move(text);
  cell.kind = Kind::kNumber;
  return cell;
}

Cell Cell::truth(bool value, std::string text) {
  Cell cell;
  cell.text = std::move(text);
  cell.data = value ? "true" : "false";
  cell.kind = Kind::kTruth;
  return cell;
}

Cell Cell::words(const std::vector<std::string>& words) {
  Cell cell(join(words, " "));
  cell.kind = Kind::kWords;
  return cell;
}

Cell Cell::nothing(std::string text) {
  Cell cell;
  cell.text = std::move(text);
  cell.kind = Kind::kNothing;
  return cell;
}

std::string key_of(const Table::Column& column) {
  std::string key = column.key.empty() ? column.title : column.key;
  std::replace_if(key.begin(), key.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return key;
}

const Cell& cell_of(const std::vector<Cell>& row, std::size_t column) {
  static const Cell kEmpty = Cell::nothing();
  return column < row.size() ? row[column] : kEmpty;
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

}  // namespace ktune
