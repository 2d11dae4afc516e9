#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "base/named.h"

// Formats. Each prints every document and is one file and one row of kFormats in formats.cpp. Reports and gates have
// rows of their own beside those: formats that need more than a document holds.

namespace ktune {

/// A row of a table of formats, as --format and --out take it.
template <typename Subject>
struct Format {
  std::string_view name;
  std::string_view summary;
  /// Width 0: no limit. Only `term` looks at width and colour.
  std::function<std::string(const Subject&, int width, bool colour)> print;
};

/// Those of every command.
const std::vector<Format<Document>>& document_formats();

/// Formats of what has a document: `own` rows, then every row of document_formats() whose name none of them has. The
/// order of document_formats() comes first.
template <typename Subject>
std::vector<Format<Subject>> formats_of(std::vector<Format<Subject>> own, Document (*document_of)(const Subject&)) {
  std::vector<Format<Subject>> formats;
  for (const Format<Document>& general : document_formats()) {
    const auto at = std::find_if(own.begin(), own.end(), [&](const auto& row) { return row.name == general.name; });
    if (at == own.end()) {
      formats.push_back({general.name, general.summary,
                         [print = general.print, document_of](const Subject& subject, int width, bool colour) {
                           return print(document_of(subject), width, colour);
                         }});
    } else {
      formats.push_back(std::move(*at));
      own.erase(at);
    }
  }
  std::move(own.begin(), own.end(), std::back_inserter(formats));
  return formats;
}

/// Throws Error(kUsage): "unknown format 'x'; did you mean …", and all names as hint.
template <typename Subject>
const Format<Subject>& find_format(const std::vector<Format<Subject>>& formats, std::string_view name) {
  return find_named(formats, name, "format");
}

// One function a format, each in a file of its own.

/// Sections one after the other, tables as wide as the terminal.
std::string print_term(const Document& document, int width, bool colour);
/// Headings, and tables whose cells escape '|'.
std::string print_markdown(const Document& document, int width, bool colour);
/// One table for programs (Document::csv_key), one line a row.
std::string print_csv(const Document& document, int width, bool colour);
/// {"schema", a list of records for each key, "notes", "summary" where there is one}; a record a line.
std::string print_json(const Document& document, int width, bool colour);
/// One page that needs no other file.
std::string print_html(const Document& document, int width, bool colour);

}  // namespace ktune
