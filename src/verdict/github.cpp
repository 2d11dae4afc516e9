#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "verdict/lines.h"
#include "verdict/print.h"

// Workflow commands: what a step prints is shown on the pull request, at the kernel's file. Escaped as GitHub's own
// toolkit does (packages/core/src/command.ts).

namespace ktune::verdict {

namespace {

std::string replaced(const std::string& text, std::string_view escaped) {
  std::string out;
  for (const char c : text) {
    if (escaped.find(c) != std::string_view::npos)
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      out += c;
  }
  return out;
}

std::string data(const std::string& text) { return replaced(text, "%\r\n"); }
std::string property(const std::string& text) { return replaced(text, "%\r\n:,"); }

bool is_same_file(const std::string& one, const std::string& other) {
  const std::string a = "/" + one, b = "/" + other;
  return a.ends_with(b) || b.ends_with(a);
}

/// The line of the candidate's source that its compiler names in the reason, "mul3.cu(9): error" or "mul3.cu:9:5:
/// error";
/// "": none.
std::string line_of(const Row& row) {
  if (row.verdict != Verdict::kWrong || row.source.empty()) return "";
  const std::string& text = row.reason;
  const std::string name = row.source.substr(row.source.rfind('/') + 1);
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t space = text.find_last_of(" \t\n\"'", at);  // the path that the name ends
    const std::size_t begin = space == std::string::npos ? 0 : space + 1, end = at + name.size();
    if (end >= text.size() || (text[end] != '(' && text[end] != ':')) continue;
    if (!is_same_file(text.substr(begin, end - begin), row.source)) continue;
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto last = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(end) + 1, text.end(), digit);
    const std::string line(text.begin() + static_cast<std::ptrdiff_t>(end) + 1, last);
    if (!line.empty() && (text[end] == ':' || (last != text.end() && *last == ')'))) return line;
  }
  return "";
}

std::string command(std::string_view level, const std::string& file, const std::string& line, Verdict verdict,
                    const std::string& message) {
  std::string where = file.empty() ? "" : "file=" + property(file) + ",";
  if (!line.empty()) where += "line=" + line + ",";
  return fmt::format("::{} {}title={}::{}\n", level, where, property(fmt::format("ktune gate: {}", name_of(verdict))),
                     data(message));
}

}  // namespace

/// GitHub shows ten errors and ten warnings of a step: the worst come first.
std::string print_annotations(const Result& result, int, bool) {
  std::string out;
  bool failed = false;
  for (const Row* row : worst_first(result)) {
    const Standing standing = standing_of(*row, result.pass_inconclusive);
    if (standing == Standing::kPasses) continue;
    const bool fails = standing == Standing::kFails || standing == Standing::kErrs;
    failed |= fails;
    const char* level = fails ? "error" : standing == Standing::kLetBy ? "warning" : "notice";
    const std::string why = explanation_of(*row, result.mode);
    const char* link = why.empty() ? "" : std::isnan(row->shift_pct) ? ": " : " ";
    out += command(level, row->source, line_of(*row), row->verdict, kernel_of(*row) + link + why);
  }
  if (!failed && exit_code_of(result.verdict, result.pass_inconclusive) != 0)
    out += command("error", "", "", result.verdict,
                   result.rows.empty() && !result.notes.empty() ? join(result.notes, "; ") : summary_of(result));
  return out + summary_of(result) + "\n";
}

}  // namespace ktune::verdict
