#include <fmt/format.h>

#include <charconv>

#include "base/format.h"
#include "base/text.h"

// Written by hand: base has no JSON library, and a table needs strings, literals and flat lists only.

namespace ktune {
namespace {

/// Bytes of the UTF-8 character that the text starts with; 0: it starts with none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF5 ? 0 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  // Longer than needed, halves of a pair of UTF-16, and what lies beyond Unicode.
  const bool wrong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) ||
                     (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F);
  return wrong ? 0 : length;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const char c = text[0];
    if (length == 0)
      out += "\uFFFD";
    else if (length > 1)
      out += text.substr(0, length);
    else if (c == '"' || c == '\\')
      out.append("\\").append(1, c);
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out + '"';
}

std::string list_of(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  for (const std::string& text : texts) parts.push_back(quoted(text));
  return "[" + join(parts, ", ") + "]";
}

/// A number that JSON has no word for ("inf", "1.") is a text.
bool is_number(const std::string& text) {
  double value = 0.0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::size_t digit = text.find_first_not_of('-');
  return failure == std::errc() && end == text.data() + text.size() && text[digit] >= '0' && text[digit] <= '9' &&
         text.back() != '.';
}

std::string value_of(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::kNothing:
      return "null";
    case Cell::Kind::kTruth:
      return cell.value();
    case Cell::Kind::kWords:
      return cell.text.empty() ? "[]" : list_of(split(cell.text, ' '));
    case Cell::Kind::kNumber:
      return is_number(cell.value()) ? cell.value() : quoted(cell.value());
    case Cell::Kind::kText:
      break;
  }
  return quoted(cell.value());
}

std::string record_of(const Table& table, const std::vector<Cell>& row) {
  std::vector<std::string> fields;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    fields.push_back(quoted(key_of(table.columns[c])) + ": " + value_of(cell_of(row, c)));
  return "{" + join(fields, ", ") + "}";
}

}  // namespace

/// {"schema", a list of records for each key, "notes", "summary" where there is one}; a record a line.
std::string print_json(const Document& document, int, bool) {
  std::string out = "{\n  \"schema\": " + quoted(document.schema);
  for (const Records& records : records_of(document)) {
    out += ",\n  " + quoted(records.key) + ": [";
    const char* separator = "";
    for (const auto& row : records.table.rows) {
      out.append(separator).append("\n    ").append(record_of(records.table, row));
      separator = ",";
    }
    out += records.table.rows.empty() ? "]" : "\n  ]";
  }
  std::vector<std::string> notes;
  for (const Section& section : document.sections)
    notes.insert(notes.end(), section.remarks.begin(), section.remarks.end());
  notes.insert(notes.end(), document.notes.begin(), document.notes.end());
  out += ",\n  \"notes\": " + list_of(notes);
  if (!document.summary.empty()) out += ",\n  \"summary\": " + quoted(document.summary);
  return out + "\n}\n";
}

}  // namespace ktune
