#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "base/process.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/stderr_notices.h"
#include "expr/resolve.h"
#include "spec/spec.h"

namespace ktune::cli {

namespace {

struct SpaceOptions {
  sweep::Selection selection;
  std::string device = "auto";
  std::string variant;
  Output output;
  bool explain = false;
  bool list = false;
};

Table::Column for_programs(const char* title) { return {title, false, 0, "", Audience::kPrograms}; }
Table::Column for_people(const char* title) { return {title, false, 0, "", Audience::kPeople}; }

Table variants_table(const sweep::PreparedProblem& prepared) {
  Table table{{for_programs("op"), for_programs("problem")}, {}};
  for (const auto& param : prepared.spec->params) table.columns.push_back({param.name, true});
  table.columns.push_back(for_people(""));
  table.columns.push_back(for_programs("default"));
  for (std::int64_t id = 0; id < prepared.space.size(); ++id) {
    std::vector<Cell> row{prepared.spec->name, prepared.problem.text()};
    const model::Variant variant = prepared.space.variant(id);
    for (const auto& [name, value] : variant.values)
      row.push_back(value.name.empty() ? Cell(value.number) : Cell(value.name));
    const bool is_default = id == prepared.default_id;
    row.emplace_back(is_default ? "default" : "");
    row.push_back(Cell::truth(is_default, is_default ? "yes" : "no"));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table rejections_table(const sweep::PreparedProblem& prepared) {
  Table table{{for_programs("op"), for_programs("problem"), {"rejected", true}, {"reason"}}, {}};
  for (const auto& [why, count] : prepared.space.rejected())
    table.rows.push_back({prepared.spec->name, prepared.problem.text(), count, why});
  return table;
}

/// The lets of the spec and their values for a variant.
Table lets_table(const sweep::PreparedProblem& prepared, const model::Variant& variant) {
  Table table{{for_programs("op"), for_programs("problem"), {"let"}, {"value", true}, {"expression"}}, {}};
  const expr::Scope scope = expr::variant_scope(prepared.scope, variant);
  for (const model::Let& let : prepared.spec->lets) {
    const auto value = expr::try_evaluate(let.expr, scope);
    table.rows.push_back({prepared.spec->name, prepared.problem.text(), let.name,
                          value ? Cell(*value) : Cell::nothing(), let.expr.text});
  }
  return table;
}

std::string lets_text(const sweep::PreparedProblem& prepared, const model::Variant& variant, int width, bool colour) {
  if (prepared.spec->lets.empty()) return "";
  return fmt::format("  lets of {}\n{}", variant.text(), lets_table(prepared, variant).term(width, colour));
}

std::int64_t rejected_of(const space::Space& space) {
  std::int64_t rejected = 0;
  for (const auto& [why, count] : space.rejected()) rejected += count;
  return rejected;
}

std::string counts_text(const sweep::PreparedProblem& prepared) {
  return fmt::format("{} points, {} rejected, {} variants", prepared.space.enumerated(), rejected_of(prepared.space),
                     prepared.space.size());
}

/// One problem as the terminal shows it.
std::string term_text(const sweep::PreparedProblem& prepared, const SpaceOptions& options, int width, bool colour) {
  std::string text =
      fmt::format("{}: {}\n  default {}\n", name_of(prepared), counts_text(prepared), prepared.default_variant.text());
  if (options.explain) {
    for (const auto& [why, count] : prepared.space.rejected())
      text += fmt::format("  {:>10} rejected: {}\n", count, why);
    text += lets_text(prepared, prepared.default_variant, width, colour);
  }
  if (options.list) text += variants_table(prepared).term(width, colour);
  return text;
}

/// Rows are the problems; --explain adds "rejections" and "lets", --list adds "variants".
Document space_document(const std::vector<sweep::SharedProblem>& problems, const SpaceOptions& options) {
  Document document;
  document.schema = "ktune.space/1";
  document.title = "ktune space";
  document.csv_key = options.list ? "variants" : options.explain ? "rejections" : "";
  Section counts;
  const bool more = options.explain || options.list;
  if (more) counts.audience = Audience::kPrograms;
  counts.table.columns = {{"op"}, {"problem"}, {"points", true}, {"rejected", true}, {"variants", true}, {"default"}};
  for (const auto& prepared : problems)
    counts.table.rows.push_back({prepared->spec->name, prepared->problem.text(), prepared->space.enumerated(),
                                 rejected_of(prepared->space), prepared->space.size(),
                                 prepared->default_variant.text()});
  document.sections.push_back(std::move(counts));
  for (const auto& prepared : problems) {
    if (!more) break;
    const std::vector<std::string> legend{counts_text(*prepared), "default " + prepared->default_variant.text()};
    document.sections.push_back({name_of(*prepared), legend, {}, {}, Audience::kPeople});
    if (options.explain)
      document.sections.push_back({"", {}, rejections_table(*prepared), {}, Audience::kAll, "rejections"});
    if (options.explain && !prepared->spec->lets.empty())
      document.sections.push_back(
          {"", {}, lets_table(*prepared, prepared->default_variant), {}, Audience::kAll, "lets"});
    if (options.list) document.sections.push_back({"", {}, variants_table(*prepared), {}, Audience::kAll, "variants"});
  }
  document.term = [&](int width, bool colour) {
    std::string text;
    for (const auto& prepared : problems) text += term_text(*prepared, options, width, colour);
    return text;
  };
  return document;
}

/// --variant: is it in the space of each problem.
Document explained_document(const std::vector<sweep::SharedProblem>& problems, const SpaceOptions& options) {
  struct Answer {
    sweep::SharedProblem prepared;
    model::Variant variant;
    std::string text;
  };
  Document document;
  document.schema = "ktune.space-variant/1";
  document.title = "ktune space --variant " + options.variant;
  Section section{"", {}, {{{"op"}, {"problem"}, {"variant"}, {"valid"}, {"rejected"}}, {}}, {}};
  std::vector<Answer> answers;
  for (const auto& prepared : problems) {
    const model::Variant variant = spec::parse_variant(*prepared->full, options.variant, prepared->default_variant);
    const auto why = sweep::why_absent(*prepared, variant);
    section.table.rows.push_back({prepared->spec->name, prepared->problem.text(), variant.text(),
                                  Cell::truth(!why, why ? "no" : "yes"), why ? Cell(*why) : Cell::nothing()});
    answers.push_back(
        {prepared, variant,
         fmt::format("{}  {}\n  {}\n", name_of(*prepared), variant.text(), why ? "rejected: " + *why : "valid")});
  }
  document.sections.push_back(std::move(section));
  const bool with_lets = options.explain;
  for (const Answer& answer : answers)
    if (with_lets && !answer.prepared->spec->lets.empty())
      document.sections.push_back({"", {}, lets_table(*answer.prepared, answer.variant), {}, Audience::kAll, "lets"});
  document.term = [answers, with_lets](int width, bool colour) {
    std::string text;
    for (const Answer& answer : answers) {
      text += answer.text;
      if (with_lets) text += lets_text(*answer.prepared, answer.variant, width, colour);
    }
    return text;
  };
  return document;
}

int run_space(SpaceOptions& options) {
  check_output(options.output, document_formats(), inputs_of(options.selection, options.device, ""));
  sweep::check_selection(options.selection);
  const model::DeviceFacts facts = sweep::device_facts(options.device, stderr_notices());
  const auto work = sweep::resolve_selection(options.selection, sweep::sweep_use(facts));
  const auto problems = sweep::prepare(work, facts, 0);
  // A list of millions of variants takes seconds to print; a file in the making would be left behind.
  std::optional<EndsAtInterrupt> scope;
  if (options.output.files.empty()) scope.emplace();
  deliver(options.output, document_formats(),
          options.variant.empty() ? space_document(problems, options) : explained_document(problems, options));
  return 0;
}

}  // namespace

std::function<int()> setup_space(CLI::App& app, const model::Provenance&) {
  auto options = std::make_shared<SpaceOptions>();
  add_space(app, options->selection);
  add_plans(app, options->selection);
  add_device_option(app, options->device);
  app.add_flag("--explain", options->explain, "Why points are not in the space, with counts, and the values of lets");
  app.add_flag("--list", options->list, "Every variant");
  add_output(app, options->output, document_formats());
  app.add_option("--variant", options->variant,
                 "NAME=V,…: is this one in the space, and if not, why (the rest as in the default)");
  return [options] { return run_space(*options); };
}

}  // namespace ktune::cli
