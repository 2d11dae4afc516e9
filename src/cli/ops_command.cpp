#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands.h"
#include "spec/spec.h"

namespace ktune::cli {

namespace {

int run_ops() {
  Table table{
      {{"op", false, 0}, {"dims", false, 0}, {"dtypes", false, 2}, {"parameters", false, 3}, {"what", false, 1}}, {}};
  for (const std::string& name : spec::shipped_ops()) {
    const model::OpSpec op = spec::load_shipped_op(name);
    std::vector<std::string> params;
    for (const auto& param : op.params) params.push_back(param.name);
    const std::vector<std::string> dtypes = op.types.empty() ? std::vector<std::string>{} : op.types.front().values;
    table.rows.push_back({op.name, join(op.dims, " "), join(dtypes, " "), join(params, " "), op.summary});
  }
  const Stream out = stdout_stream();
  std::fputs(table.term(out.width, out.colour).c_str(), stdout);
  return 0;
}

}  // namespace

std::function<int()> setup_ops(CLI::App&) { return run_ops; }

}  // namespace ktune::cli
