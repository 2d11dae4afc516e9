#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/table.h"

namespace ktune {

/// A table with the words around it.
struct Section {
  std::string title;                ///< "rmsnorm on NVIDIA H200, events, cold L2"; "" prints none
  std::vector<std::string> legend;  ///< lines between the title and the table
  Table table;                      ///< without columns: none
  std::vector<std::string> remarks;
  Audience audience = Audience::kAll;
  std::string key = "rows";  ///< the name of its rows in JSON; sections of one key make one list
};

/// What a command prints, for every format that base/format.h lists.
struct Document {
  std::string schema;  ///< of its JSON: "ktune.ops/1"
  std::string title;   ///< of an HTML page
  std::vector<Section> sections;
  std::vector<std::string> notes;
  std::string summary;  ///< one line below everything: "12 passed, 0 failed"
  Style summary_style = Style::kPlain;
  std::string csv_key;  ///< CSV holds one table: the rows of this key; "" is the first
  /// The terminal's text where it is not the sections one after the other.
  std::function<std::string(int width, bool colour)> term;
};

/// What programs get of a document: the rows of all sections that have one key, as one table.
struct Records {
  std::string key;
  Table table;  ///< a column for each key, in the order in which they first appear
};
std::vector<Records> records_of(const Document& document);

}  // namespace ktune
