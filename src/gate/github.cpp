#include <fmt/format.h>

#include <cmath>

#include "gate/lines.h"
#include "gate/print.h"

// Workflow commands: what a step prints is shown on the pull request, at the kernel's file. Escaped as GitHub's own
// toolkit does (packages/core/src/command.ts).

namespace ktune::gate {

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

std::string command(std::string_view level, const std::string& file, Verdict verdict, const std::string& message) {
  const std::string where = file.empty() ? "" : "file=" + property(file) + ",";
  return fmt::format("::{} {}title={}::{}\n", level, where, property(fmt::format("ktune gate: {}", name_of(verdict))),
                     data(message));
}

}  // namespace

std::string print_annotations(const Result& result, int, bool) {
  std::string out;
  bool failed = false;
  for (const Row* row : worst_first(result)) {
    const Standing standing = standing_of(*row, result.pass_inconclusive);
    if (standing == Standing::kPasses) continue;
    const bool fails = standing == Standing::kFails || standing == Standing::kErrs;
    failed |= fails;
    const char* level = fails ? "error" : standing == Standing::kLetBy ? "warning" : "notice";
    const std::string why = explanation_of(*row);
    const char* link = why.empty() ? "" : std::isnan(row->shift_pct) ? ": " : " ";
    out += command(level, row->source, row->verdict, kernel_of(*row) + link + why);
  }
  if (!failed && exit_code_of(result.verdict, result.pass_inconclusive) != 0)
    out += command("error", "", result.verdict, summary_of(result));
  return out + summary_of(result) + "\n";
}

}  // namespace ktune::gate
