#include <fmt/format.h>

#include "verdict/lines.h"
#include "verdict/print.h"

namespace ktune::verdict {

namespace {

/// What people read besides the table: why a row is what it is.
std::vector<std::string> reasons_of(const Result& result, const std::vector<const Row*>& rows) {
  std::vector<std::string> lines;
  for (const Row* row : rows) {
    if (row->verdict == Verdict::kPass) continue;
    const std::string why = row->reason.empty() ? explanation_of(*row, result.mode) : row->reason;
    if (!why.empty()) lines.push_back(fmt::format("{} {}: {}", name_of(row->verdict), kernel_of(*row), why));
  }
  return lines;
}

Section provenance_section(const Result& result) {
  Section section;
  section.title = "How it was measured";
  section.audience = Audience::kPeople;
  section.table.columns = {{"what"}, {"value"}};
  for (const auto& [what, value] : provenance_of(result)) section.table.rows.push_back({what, value});
  return section;
}

}  // namespace

Document document_of(const Result& result) {
  Document document;
  document.schema = "ktune.gate-table/1";
  document.title = fmt::format("ktune gate: {}", name_of(result.verdict));
  document.summary = summary_of(result);
  document.summary_style = style_of(result.verdict);
  document.notes = result.notes;
  const std::vector<const Row*> rows = worst_first(result);
  document.sections.push_back({"Kernels", {}, table_of(result, rows), reasons_of(result, rows)});
  if (!result.detail_columns.empty())
    document.sections.push_back({"Details", {}, details_of(result), {}, Audience::kAll, "details"});
  document.sections.push_back(provenance_section(result));
  return document;
}

}  // namespace ktune::verdict
