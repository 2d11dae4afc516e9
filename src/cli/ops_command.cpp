#include <CLI/CLI.hpp>
#include <memory>

#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "spec/spec.h"

namespace ktune::cli {

namespace {

/// Columns the summary may take before the others would be pushed out of a terminal of 80.
constexpr int kSummaryWidth = 50;
constexpr std::size_t kSummaryColumn = 2;

/// Long summaries are cut where they would cost other columns their place.
std::string term_text(Table table, int width, bool colour) {
  if (width > 0 && width < 120)
    for (auto& row : table.rows) row[kSummaryColumn].text = cut_to_width(row[kSummaryColumn].text, kSummaryWidth);
  return table.term(width, colour);
}

Document ops_document() {
  Document document;
  document.schema = "ktune.ops/1";
  document.title = "The ops that come with ktune";
  Table table{{{"op"}, {"dims"}, {"what"}, {"dtypes", false, 1}, {"parameters", false, 2}}, {}};
  for (const std::string& name : spec::shipped_ops()) {
    const model::OpSpec op = spec::load_shipped_op(name);
    std::vector<std::string> params;
    for (const auto& param : op.params) params.push_back(param.name);
    const std::vector<std::string> dtypes = op.types.empty() ? std::vector<std::string>{} : op.types.front().values;
    table.rows.push_back({op.name, Cell::words(op.dims), op.summary, Cell::words(dtypes), Cell::words(params)});
  }
  document.term = [table](int width, bool colour) { return term_text(table, width, colour); };
  document.sections.push_back({"", {}, std::move(table), {}});
  return document;
}

int run_ops(const Output& output) {
  check_output(output, document_formats(), {});
  deliver(output, document_formats(), ops_document());
  return 0;
}

}  // namespace

std::function<int()> setup_ops(CLI::App& app, const model::Provenance&) {
  auto output = std::make_shared<Output>();
  add_output(app, *output, document_formats());
  return [output] { return run_ops(*output); };
}

}  // namespace ktune::cli
