#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/stderr_notices.h"
#include "cli/table_output.h"
#include "expr/resolve.h"
#include "spec/spec.h"

namespace ktune::cli {

namespace {

struct SpaceOptions {
  sweep::Selection selection;
  std::string device = "auto";
  std::string variant;
  std::string format = "term";
  bool explain = false;
  bool list = false;
};

void print_variants(const sweep::PreparedProblem& prepared, const std::string& format) {
  Table table;
  for (const auto& param : prepared.spec->params) table.columns.push_back({param.name, true, 0});
  table.columns.push_back({"", false, 0});
  for (std::int64_t id = 0; id < prepared.space.size(); ++id) {
    const model::Variant variant = prepared.space.variant(id);
    std::vector<std::string> row;
    for (const auto& [name, value] : variant.values) row.push_back(value.text());
    row.push_back(id == prepared.default_id ? "default" : "");
    table.rows.push_back(std::move(row));
  }
  print_table(table, format);
}

void explain_variant(const sweep::PreparedProblem& prepared, const std::string& text) {
  const model::Variant variant = spec::parse_variant(*prepared.full, text, prepared.default_variant);
  const auto why = sweep::why_absent(prepared, variant);
  fmt::print("{} {}  {}\n  {}\n", prepared.spec->name, prepared.problem.text(), variant.text(),
             why ? "rejected: " + *why : "valid");
}

int run_space(SpaceOptions& options) {
  sweep::check_selection(options.selection);
  const model::DeviceFacts facts = sweep::device_facts(options.device, stderr_notices());
  const auto work = sweep::resolve_selection(options.selection, sweep::sweep_use(facts));
  for (const auto& prepared : sweep::prepare(work, facts, 0)) {
    if (!options.variant.empty()) {
      explain_variant(*prepared, options.variant);
      continue;
    }
    std::int64_t rejected = 0;
    for (const auto& [why, count] : prepared->space.rejected()) rejected += count;
    fmt::print("{} {}: {} points, {} rejected, {} variants\n  default {}\n", prepared->spec->name,
               prepared->problem.text(), prepared->space.enumerated(), rejected, prepared->space.size(),
               prepared->default_variant.text());
    if (options.explain)
      for (const auto& [why, count] : prepared->space.rejected()) fmt::print("  {:>10} rejected: {}\n", count, why);
    if (options.list) print_variants(*prepared, options.format);
  }
  return 0;
}

}  // namespace

std::function<int()> setup_space(CLI::App& app, const model::Provenance&) {
  auto options = std::make_shared<SpaceOptions>();
  add_space(app, options->selection);
  add_plans(app, options->selection);
  add_device_option(app, options->device);
  app.add_flag("--explain", options->explain, "Why points are not in the space, with counts");
  app.add_flag("--list", options->list, "Every variant");
  add_table_format(app, options->format);
  app.add_option("--variant", options->variant,
                 "NAME=V,…: is this one in the space, and if not, why (the rest as in the default)");
  return [options] { return run_space(*options); };
}

}  // namespace ktune::cli
