#pragma once

#include <string>
#include <vector>

namespace ktune {

/// A table of text cells, printed as aligned columns, Markdown or CSV.
struct Table {
  struct Column {
    std::string title;
    bool right = false;  ///< right-aligned (numbers)
    int priority = 0;    ///< on a narrow terminal columns with the highest priority number are dropped first; 0: never
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< one cell a column
  std::string full_format = "csv";             ///< the value of --format that shows every column

  /// Aligned columns, two spaces apart; when `width` > 0, columns are dropped by priority until it fits, and the
  /// last line says which ("not shown at this width: …"). Title row in bold if colour.
  std::string term(int width, bool colour) const;
  std::string markdown() const;
  /// RFC 4180's quoting; lines end in '\n' alone, so that cut, awk and diff work on it.
  std::string csv() const;
};

/// Text broken at spaces into lines, each ended by '\n': the first line starts with `first`, the others with `rest`.
/// Width 0: no limit.
std::string wrapped(const std::string& text, int width, const std::string& first, const std::string& rest);
/// The table as term() shows it; what it says of columns it left out is broken at spaces too.
std::string fitted(const Table& table, int width, bool colour);

}  // namespace ktune
