#include <fmt/format.h>

#include "base/format.h"
#include "base/markup.h"
#include "base/text.h"

namespace ktune {
namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --text: #1b1f24; --soft: #57606a; --page: #ffffff; --line: #d8dee4; --head: #f3f5f7;
  --good: #1a7f37; --bad: #b3261e; --note: #8a5a00; --news: #0550ae; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ed; --soft: #9aa4af; --page: #15191e; --line: #343b44;
  --head: #1f252c; --good: #57c46f; --bad: #ff8078; --note: #e0b050; --news: #7ab4ff; } }
body { margin: 2rem auto; padding: 0 1.25rem; max-width: 90rem; color: var(--text); background: var(--page);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 0.5rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 0.25rem; }
p, ul { margin: 0.5rem 0; }
.legend, .remarks { color: var(--soft); font-size: 0.9rem; overflow-wrap: anywhere; }
.summary { font-weight: 600; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; }
th, td { padding: 0.3rem 0.8rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { background: var(--head); white-space: nowrap; }
tbody tr:hover { background: var(--head); }
td { white-space: nowrap; }
td.long { white-space: normal; min-width: 20rem; overflow-wrap: anywhere; }
.r { text-align: right; font-variant-numeric: tabular-nums; }
.good { color: var(--good); } .bad { color: var(--bad); } .note { color: var(--note); } .news { color: var(--news); }
)";
/// Cells of more columns than this may break, best behind a comma; others keep to one line.
constexpr int kLongCell = 60;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (const std::string_view entity = entity_of(c); !entity.empty())
      out += entity;
    else if (c == '\n')
      out += "<br>";
    else if (c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F))
      out += c;
  }
  return out;
}

std::string_view class_of(Style style) {
  switch (style) {
    case Style::kRed:
      return "bad";
    case Style::kGreen:
      return "good";
    case Style::kYellow:
      return "note";
    case Style::kCyan:
      return "news";
    default:
      return "";
  }
}

std::string element(std::string_view tag, const std::vector<std::string>& classes, std::string_view text) {
  const std::string attribute = classes.empty() ? "" : fmt::format(" class=\"{}\"", join(classes, " "));
  return fmt::format("<{}{}>{}</{}>", tag, attribute, escaped(text), tag);
}

std::string table_element(const Table& table) {
  std::string out = "<div class=\"wide\">\n<table>\n<thead><tr>";
  const auto add_row = [&](auto&& add) {
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      if (table.columns[c].audience != Audience::kPrograms) add(c);
  };
  const auto aligned = [&](std::size_t c) {
    return table.columns[c].right ? std::vector<std::string>{"r"} : std::vector<std::string>{};
  };
  add_row([&](std::size_t c) { out += element("th", aligned(c), table.columns[c].title); });
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    add_row([&](std::size_t c) {
      const Cell& cell = cell_of(row, c);
      std::vector<std::string> classes = aligned(c);
      if (const std::string_view name = class_of(cell.style); !name.empty()) classes.emplace_back(name);
      const bool is_long = display_width(cell.text) > kLongCell;
      if (is_long) classes.emplace_back("long");
      std::string text = element("td", classes, cell.text);
      for (std::size_t at = 0; is_long && (at = text.find(',', at)) != std::string::npos; at += 6)
        text.insert(at + 1, "<wbr>");
      out += text;
    });
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table>\n</div>\n";
}

std::string list_element(const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string out = "<ul class=\"remarks\">\n";
  for (const std::string& line : lines) out += element("li", {}, line) + '\n';
  return out + "</ul>\n";
}

}  // namespace

/// One page that needs no other file.
std::string print_html(const Document& document, int, bool) {
  const std::string title = document.title.empty() ? "ktune" : document.title;
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += element("title", {}, title) + "\n<style>" + kStyle + "</style>\n</head>\n<body>\n";
  out += element("h1", {}, title) + '\n';
  if (!document.summary.empty()) {
    std::vector<std::string> classes{"summary"};
    if (const std::string_view name = class_of(document.summary_style); !name.empty()) classes.emplace_back(name);
    out += element("p", classes, document.summary) + '\n';
  }
  for (const Section& section : document.sections) {
    if (section.audience == Audience::kPrograms) continue;
    if (!section.title.empty()) out += element("h2", {}, section.title) + '\n';
    if (!section.legend.empty()) out += element("p", {"legend"}, join(section.legend, "\n")) + '\n';
    if (!section.table.columns.empty()) out += table_element(section.table);
    out += list_element(section.remarks);
  }
  if (!document.notes.empty()) out += element("h2", {}, "Notes") + '\n';
  return out + list_element(document.notes) + "</body>\n</html>\n";
}

}  // namespace ktune
