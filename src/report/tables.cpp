#include "report/tables.h"

#include <fmt/format.h>

#include "base/markup.h"
#include "base/terminal.h"
#include "base/text.h"
#include "report/metric.h"

namespace ktune::report {

namespace {

std::string flattened(const model::Json& json) {
  if (json.is_null()) return "";
  if (json.is_string()) return json.get<std::string>();
  std::vector<std::string> parts;
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) parts.push_back(name + "=" + flattened(value));
    return join(parts, ",");
  }
  if (json.is_array()) {
    for (const auto& value : json) parts.push_back(flattened(value));
    return join(parts, "; ");
  }
  return json.dump();
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (const std::string_view entity = entity_of(c); !entity.empty())
      out += entity;
    else
      out += c;
  }
  return out;
}

std::string html_table(const Table& table) {
  const auto cell = [&](const char* tag, std::size_t column, const std::string& text) {
    return fmt::format("<{}{}>{}</{}>", tag, table.columns[column].right ? " class=\"r\"" : "", escaped(text), tag);
  };
  std::string out = "<table>\n<tr>";
  for (std::size_t c = 0; c < table.columns.size(); ++c) out += cell("th", c, table.columns[c].title);
  out += "</tr>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) out += cell("td", c, row[c]);
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

constexpr const char* kHtmlHead =
    "<!doctype html>\n<meta charset=\"utf-8\">\n<title>ktune report</title>\n<style>\n"
    "body { font-family: sans-serif; margin: 2em; }\n"
    "table { border-collapse: collapse; margin: 1em 0; }\n"
    "th, td { padding: 0.2em 0.8em; text-align: left; border-bottom: 1px solid #ccc; }\n"
    ".r { text-align: right; font-variant-numeric: tabular-nums; }\n</style>\n";

}  // namespace

std::string print_term(const Report& report, int width, bool colour) {
  std::string out;
  for (const Section& section : sections_of(report)) {
    if (!out.empty()) out += '\n';
    out += styled(section.title, Style::kBold, colour) + '\n';
    for (const std::string& line : section.legend) out += wrapped(line, width, "  ", "    ");
    out += fitted(section.table, width, colour);
    for (const std::string& remark : section.remarks) out += wrapped(remark, width, "note: ", "  ");
  }
  if (!report.notes.empty()) out += '\n';
  for (const std::string& text : report.notes) out += wrapped(text, width, "note: ", "  ");
  return out;
}

std::string print_markdown(const Report& report, int, bool) {
  std::string out;
  for (const Section& section : sections_of(report)) {
    if (!out.empty()) out += '\n';
    out += "## " + section.title + "\n\n";
    for (std::size_t i = 0; i < section.legend.size(); ++i)
      out += section.legend[i] + (i + 1 < section.legend.size() ? "  \n" : "\n");
    out += '\n' + section.table.markdown();
    if (!section.remarks.empty()) out += '\n';
    for (const std::string& remark : section.remarks) out += "- " + remark + '\n';
  }
  if (!report.notes.empty()) out += '\n';
  for (const std::string& text : report.notes) out += "- " + text + '\n';
  return out;
}

std::string print_csv(const Report& report, int, bool) {
  Table table;
  for (const Metric& metric : metrics()) table.columns.push_back({std::string(metric.key)});
  for (const Row& row : report.rows) {
    std::vector<std::string> cells;
    for (const Metric& metric : metrics()) cells.push_back(flattened(metric.get(row)));
    table.rows.push_back(std::move(cells));
  }
  return table.csv();
}

std::string print_html(const Report& report, int, bool) {
  std::string out = kHtmlHead;
  for (const Section& section : sections_of(report)) {
    out += "<h2>" + escaped(section.title) + "</h2>\n<p>";
    for (const std::string& line : section.legend) out += escaped(line) + "<br>\n";
    out += "</p>\n" + html_table(section.table);
    for (const std::string& remark : section.remarks) out += "<p>" + escaped(remark) + "</p>\n";
  }
  for (const std::string& text : report.notes) out += "<p>" + escaped(text) + "</p>\n";
  return out;
}

}  // namespace ktune::report
