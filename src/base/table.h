#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/terminal.h"

namespace ktune {

/// One cell: the text that people read, and the value that programs get.
struct Cell {
  enum class Kind : std::uint8_t { kText, kNumber, kTruth, kWords, kNothing };

  std::string text;
  std::string data;  ///< the value as JSON and CSV write it; "" is the text itself
  Kind kind = Kind::kText;
  Style style = Style::kPlain;  ///< where the format has colours

  Cell() = default;
  template <std::convertible_to<std::string_view> Text>
  Cell(const Text& value) : text(std::string_view(value)) {}
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool> && !std::same_as<Integer, char>)
  Cell(Integer value) : text(std::to_string(value)), kind(Kind::kNumber) {}

  /// A number whose text may be rounded or carry a unit. One that is not finite is nothing, shown as `text`.
  static Cell number(double value, std::string text);
  /// A number as it is written: "0.125".
  static Cell number(std::string text);
  static Cell truth(bool value, std::string text);
  /// A list; people see spaces between its words.
  static Cell words(const std::vector<std::string>& words);
  /// No value: null in JSON, empty in CSV.
  static Cell nothing(std::string text = "");

  const std::string& value() const { return data.empty() ? text : data; }
  friend bool operator==(const Cell&, const Cell&) = default;
};

/// Who sees a column or a section. People read term, md and html; programs read csv and json.
enum class Audience : std::uint8_t { kAll, kPeople, kPrograms };

/// Columns and rows. What prints them stands in base/format.h.
struct Table {
  struct Column {
    std::string title;
    bool right = false;  ///< right-aligned (numbers)
    int priority = 0;    ///< on a narrow terminal columns with the highest priority number are dropped first; 0: never
    std::string key = "";  ///< the name in JSON; "" is the title with '_' for each space and hyphen
    Audience audience = Audience::kAll;
  };
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< one cell a column; cells that a row lacks at its end are empty
  std::string full_format = "csv";      ///< the value of --format that shows every column

  /// Aligned columns, two spaces apart; when `width` > 0, columns are dropped by priority until it fits, and the
  /// last line says which ("not shown at this width: …"). Title row in bold if colour.
  std::string term(int width, bool colour) const;
  std::string markdown() const;
  /// RFC 4180's quoting; lines end in '\n' alone, so that cut, awk and diff work on it.
  std::string csv() const;
};

std::string key_of(const Table::Column& column);
/// The cell of a column; an empty one where the row ends before it.
const Cell& cell_of(const std::vector<Cell>& row, std::size_t column);

/// Text broken at spaces into lines, each ended by '\n': the first line starts with `first`, the others with `rest`.
/// Width 0: no limit.
std::string wrapped(const std::string& text, int width, const std::string& first, const std::string& rest);
/// The table as term() shows it; what it says of columns it left out is broken at spaces too.
std::string fitted(const Table& table, int width, bool colour);

}  // namespace ktune
