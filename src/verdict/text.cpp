#include <fmt/format.h>

#include "base/markup.h"
#include "base/terminal.h"
#include "base/text.h"
#include "verdict/lines.h"
#include "verdict/print.h"

// What people read: the terminal and a pull request's comment.

namespace ktune::verdict {

namespace {

std::string one_line(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != '\r') out += c == '\n' || c == '\t' ? ' ' : c;
  }
  return out;
}

/// Why a row is what it is: the table has no room for it. Two variants are named where it had none for them either.
std::string detail_of(const Row& row, Mode mode, bool variant_shown) {
  std::string text = row.reason.empty() ? explanation_of(row, mode) : row.reason;
  if (!variant_shown && row.base_variant != row.candidate_variant) text += (text.empty() ? "" : "; ") + variant_of(row);
  return one_line(text);
}

/// One after the other, commas between them; none is broken unless it is longer than a line.
std::string listed(const std::vector<std::string>& items, int width) {
  std::string out, line;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = one_line(items[i]) + (i + 1 < items.size() ? "," : "");
    const bool fits = width <= 0 || display_width(line) + 1 + display_width(item) <= width;
    if (!line.empty() && !fits) {
      out += wrapped(line, width, "", "  ");
      line = "  " + item;
    } else {
      line += (line.empty() ? "" : " ") + item;
    }
  }
  return line.empty() ? out : out + wrapped(line, width, "", "  ");
}

/// Words of others (a compiler's log, a file's name) say nothing to Markdown, to HTML, or to the people they name.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (const std::string_view entity = entity_of(c); !entity.empty())
      out += entity;
    else if (c == '@')
      out += "&#64;";
    else if (std::string_view("\\`*[]~").find(c) != std::string_view::npos)
      out.append("\\").append(1, c);
    else
      out += c;
  }
  return out;
}

/// A code span that no backtick of the text ends.
std::string code_span(const std::string& text) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  const std::string fence(longest + 1, '`'), space = longest > 0 ? " " : "";
  return fence + space + one_line(text) + space + fence;
}

std::string markdown_table(const Result& result, const std::vector<const Row*>& rows) {
  Table table = table_of(result, rows);
  for (auto& row : table.rows) {
    for (Cell& cell : row) cell.text = escaped(cell.text);
  }
  return table.markdown();
}

}  // namespace

Table details_of(const Result& result) {
  Table table;
  const std::size_t count = result.detail_columns.size();
  for (std::size_t i = 0; i < count; ++i) {
    const bool may_go = i > 2 && i + 1 < count;  // names, the first figure and the last one stay on any terminal
    table.columns.push_back({one_line(result.detail_columns[i]), i > 1, may_go ? static_cast<int>(i) : 0});
  }
  for (const std::vector<std::string>& row : result.details) {
    auto& cells = table.rows.emplace_back();
    for (const std::string& cell : row) cells.push_back(one_line(cell));
    cells.resize(table.columns.size());
  }
  return table;
}

std::string print_term(const Result& result, int width, bool colour) {
  std::vector<std::string> head;
  for (const auto& [what, value] : provenance_of(result)) {
    if (what != "date" && what != "ktune" && what != "command") head.push_back(fmt::format("{} {}", what, value));
  }
  const std::vector<const Row*> rows = worst_first(result);
  std::string table;
  if (!rows.empty()) table = fitted(table_of(result, rows), width, colour);
  const bool variant_shown = table.substr(0, table.find('\n')).find("variant") != std::string::npos;
  std::string out = listed(head, width) + table;
  for (const Row* row : rows) {
    if (row->verdict == Verdict::kPass) continue;
    const std::string detail = detail_of(*row, result.mode, variant_shown);
    if (!detail.empty()) out += wrapped(one_line(kernel_of(*row)) + ": " + detail, width, "", "  ");
  }
  if (!result.detail_columns.empty()) out += '\n' + fitted(details_of(result), width, colour) + '\n';
  for (const std::string& note : result.notes) out += wrapped(one_line(note), width, "note: ", "  ");
  std::string summary = summary_of(result);
  if (colour) {
    const std::size_t length = name_of(result.verdict).size();
    summary = styled(name_of(result.verdict), style_of(result.verdict), true) + summary.substr(length);
  }
  return out + wrapped(summary, width, "", "  ");
}

std::string marker_of(const Result& result) { return fmt::format("<!-- ktune gate: {} -->", name_of(result.mode)); }

/// Begins with the line marker_of(result), by which a bot finds the comment it wrote before.
std::string print_markdown(const Result& result, int, bool) {
  std::vector<const Row*> other, pass;
  for (const Row* row : worst_first(result)) (row->verdict == Verdict::kPass ? pass : other).push_back(row);
  std::string out = marker_of(result) + "\n### ktune gate: " + std::string(name_of(result.verdict)) + "\n\n" +
                    summary_of(result) + "\n";
  if (!other.empty()) {
    out += '\n' + markdown_table(result, other) + '\n';
    for (const Row* row : other) {
      const std::string reason = row->reason.empty() ? explanation_of(*row, result.mode) : row->reason;
      if (!reason.empty())
        out += fmt::format("- **{}** {}: {}\n", name_of(row->verdict), escaped(one_line(kernel_of(*row))),
                           escaped(one_line(reason)));
    }
  }
  if (!pass.empty()) {
    out += fmt::format("\n<details>\n<summary>{} kernel{} pass{}</summary>\n\n{}\n</details>\n", pass.size(),
                       pass.size() == 1 ? "" : "s", pass.size() == 1 ? "es" : "", markdown_table(result, pass));
  }
  if (!result.detail_columns.empty()) {
    Table details = details_of(result);
    for (auto& row : details.rows) {
      for (Cell& cell : row) cell.text = escaped(cell.text);
    }
    out += '\n' + details.markdown();
  }
  if (!result.notes.empty()) out += '\n';
  for (const std::string& note : result.notes) out += "- " + escaped(one_line(note)) + '\n';
  out += "\n<details>\n<summary>How it was measured</summary>\n\n| | |\n| --- | --- |\n";
  for (const auto& [what, value] : provenance_of(result)) {
    std::string cell = what == "command" ? code_span(value) : escaped(one_line(value));
    for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) cell.insert(at, "\\");
    out += fmt::format("| {} | {} |\n", what, cell);
  }
  return out + "\n</details>\n";
}

}  // namespace ktune::verdict
