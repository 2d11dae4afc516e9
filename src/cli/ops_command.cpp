#include <CLI/CLI.hpp>
#include <memory>

#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/table_output.h"
#include "spec/spec.h"

namespace ktune::cli {

namespace {

/// Columns the summary may take before the others would be pushed out of a terminal of 80.
constexpr int kSummaryWidth = 50;

int run_ops(const std::string& format) {
  Table table{
      {{"op", false, 0}, {"dims", false, 0}, {"what", false, 0}, {"dtypes", false, 1}, {"parameters", false, 2}}, {}};
  const int width = format == "term" ? stdout_stream().width : 0;
  for (const std::string& name : spec::shipped_ops()) {
    const model::OpSpec op = spec::load_shipped_op(name);
    std::vector<std::string> params;
    for (const auto& param : op.params) params.push_back(param.name);
    const std::vector<std::string> dtypes = op.types.empty() ? std::vector<std::string>{} : op.types.front().values;
    const std::string what = width > 0 && width < 120 ? cut_to_width(op.summary, kSummaryWidth) : op.summary;
    table.rows.push_back({op.name, join(op.dims, " "), what, join(dtypes, " "), join(params, " ")});
  }
  print_table(table, format);
  return 0;
}

}  // namespace

std::function<int()> setup_ops(CLI::App& app, const model::Provenance&) {
  auto format = std::make_shared<std::string>("term");
  add_table_format(app, *format);
  return [format] { return run_ops(*format); };
}

}  // namespace ktune::cli
