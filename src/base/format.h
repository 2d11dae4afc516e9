#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "base/named.h"

// Formats. Each prints every document and is one file and one row of formats.def. Reports and gates have
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
  return find_named(formats, name, "format", "formats");
}

// One function a format, declared from the rows of formats.def. What it does is told where it is defined.
#define KTUNE_FORMAT(print, name, summary) std::string print_##print(const Document& document, int width, bool colour);
#include "base/formats.def"

}  // namespace ktune
