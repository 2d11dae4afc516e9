#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/stderr_notices.h"
#include "probe/recorded_code.h"
#include "store/store.h"

namespace ktune::cli {

namespace {

struct ShowOptions {
  std::vector<std::string> trial;  ///< its number, or OP PROBLEM and a variant
  std::string db;
  std::string config;
  bool ptx = false;
  bool sass = false;
  bool log = false;
  Output output;
};

using Lines = std::vector<std::pair<std::string, std::string>>;

/// What people read: a word, and what there is to say of it.
Lines lines_of(const model::TrialRecord& trial) {
  Lines lines{
      {"trial", fmt::format("{}{}", trial.id, trial.is_final ? " (a finalist's second timing)" : "")},
      {"op", trial.op + " " + trial.problem_text},
      {"variant", trial.variant.text() + (trial.is_default ? " (the default)" : "")},
      {"outcome", fmt::format("{}{}", name_of(trial.outcome), trial.reason.empty() ? "" : ": " + trial.reason)}};
  const model::TimingSummary& timing = trial.timing;
  if (trial.outcome == model::Outcome::kMeasured) {
    lines.emplace_back("time", fmt::format("{} (median of {}, {:.0f} % interval {} to {}, p10 {}, p90 {})",
                                           format_time_us(timing.time_us), timing.n, 100.0 * timing.ci_level,
                                           format_time_us(timing.ci_low_us), format_time_us(timing.ci_high_us),
                                           format_time_us(timing.p10_us), format_time_us(timing.p90_us)));
    lines.emplace_back("timer",
                       fmt::format("{}, cache {}", name_of(trial.samples.timer), name_of(trial.samples.cache_state)));
    lines.emplace_back("verified", fmt::format("worst difference {:.3f} of the tolerance", trial.verify_margin));
  }
  for (const auto& [kernel, resources] : trial.resources) {
    if (resources.registers < 0) continue;  // a host compiler does not say
    lines.emplace_back("kernel", fmt::format("{}: {} registers, {} B shared, {} B local, {} B spilled", kernel,
                                             resources.registers, resources.shared_bytes, resources.local_bytes,
                                             resources.spill_store_bytes + resources.spill_load_bytes));
  }
  for (const std::string& warning : trial.warnings) lines.emplace_back("warning", warning);
  lines.emplace_back("date", trial.date);
  lines.emplace_back("session", std::to_string(trial.session));
  for (const auto& [part, value] : trial.fingerprint_parts) lines.emplace_back("depends on", part + " = " + value);
  return lines;
}

/// The trial as one record.
Table record_of(const model::TrialRecord& trial) {
  const bool measured = trial.outcome == model::Outcome::kMeasured;
  Table table;
  auto& row = table.rows.emplace_back();
  const auto add = [&](const char* key, Cell cell) {
    table.columns.push_back({key});
    row.push_back(std::move(cell));
  };
  const auto add_figure = [&](const char* key, double value) {
    add(key, measured ? Cell::number(value, "") : Cell::nothing());
  };
  add("trial", trial.id);
  add("op", trial.op);
  add("problem", trial.problem_text);
  add("variant", trial.variant.text());
  add("default", Cell::truth(trial.is_default, trial.is_default ? "yes" : "no"));
  add("final", Cell::truth(trial.is_final, trial.is_final ? "yes" : "no"));
  add("outcome", name_of(trial.outcome));
  add("reason", trial.reason);
  add_figure("time_us", trial.timing.time_us);
  add("n", measured ? Cell(trial.timing.n) : Cell::nothing());
  add_figure("ci_level", trial.timing.ci_level);
  add_figure("ci_low_us", trial.timing.ci_low_us);
  add_figure("ci_high_us", trial.timing.ci_high_us);
  add_figure("p10_us", trial.timing.p10_us);
  add_figure("p90_us", trial.timing.p90_us);
  add("timer", measured ? Cell(name_of(trial.samples.timer)) : Cell::nothing());
  add("cache_state", measured ? Cell(name_of(trial.samples.cache_state)) : Cell::nothing());
  add_figure("verify_margin", trial.verify_margin);
  add("date", trial.date);
  add("session", trial.session);
  add("detail", trial.detail);
  return table;
}

Table kernels_table(const model::TrialRecord& trial) {
  Table table{{{"kernel"}, {"registers"}, {"shared_bytes"}, {"local_bytes"}, {"spill_bytes"}}, {}};
  for (const auto& [kernel, resources] : trial.resources)
    if (resources.registers >= 0)
      table.rows.push_back({kernel, resources.registers, resources.shared_bytes, resources.local_bytes,
                            resources.spill_store_bytes + resources.spill_load_bytes});
  return table;
}

Document trial_document(const model::TrialRecord& trial) {
  Document document;
  document.schema = "ktune.trial/1";
  document.title = fmt::format("Trial {}", trial.id);
  Lines lines = lines_of(trial);
  document.term = [lines, detail = trial.detail](int, bool) {
    std::string text;
    for (const auto& [word, value] : lines) text += fmt::format("{:<10} {}\n", word, value);
    return detail.empty() ? text : text + "detail\n" + detail + "\n";
  };
  if (!trial.detail.empty()) lines.emplace_back("detail", trial.detail);
  Section people{"", {}, {{{"what"}, {"value"}}, {}}, {}, Audience::kPeople};
  for (const auto& [word, value] : lines) people.table.rows.push_back({word, value});
  document.sections.push_back(std::move(people));
  document.sections.push_back({"", {}, record_of(trial), {}, Audience::kPrograms});
  document.sections.push_back({"", {}, kernels_table(trial), {}, Audience::kPrograms, "kernels"});
  Section parts{"", {}, {{{"part"}, {"value"}}, {}}, {}, Audience::kPrograms, "depends_on"};
  for (const auto& [part, value] : trial.fingerprint_parts) parts.table.rows.push_back({part, value});
  document.sections.push_back(std::move(parts));
  Section warnings{"", {}, {{{"warning"}}, {}}, {}, Audience::kPrograms, "warnings"};
  for (const std::string& warning : trial.warnings) warnings.table.rows.push_back({warning});
  document.sections.push_back(std::move(warnings));
  return document;
}

/// The trial's number: as given, or of OP PROBLEM and a variant.
std::int64_t number_of(const ShowOptions& options, store::Store& store) {
  if (options.trial.size() == 1) {
    if (options.trial[0].find_first_not_of("0123456789") != std::string::npos)
      throw Error(ErrorKind::kUsage,
                  fmt::format("'{}' is no trial's number, and an op needs a problem", options.trial[0]),
                  "ktune show NUMBER, or ktune show OP PROBLEM [VARIANT]");
    return parse_integer(options.trial[0], "a trial's number");
  }
  store::Filter filter;
  filter.ops = {options.trial[0]};
  const sweep::VariantChoice choice =
      sweep::parse_variant_choice(options.trial.size() == 3 ? options.trial[2] : "winner");
  return probe::find_trial(store.load(filter), options.trial[0], options.trial[1], choice);
}

int run_show(const ShowOptions& options) {
  check_output(options.output, document_formats(), {db_path(options.db), options.config});
  store::Store store(db_path(options.db), store::Store::Mode::kRead);
  const std::int64_t number = number_of(options, store);
  const auto trial = store.load_trial(number);
  if (!trial)
    throw Error(ErrorKind::kNoData, fmt::format("no trial {} in {}", number, store.path()),
                "`ktune report --all` lists the trials");
  if (options.log || options.ptx || options.sass) {
    const auto view = options.log   ? probe::CodeView::kLog
                      : options.ptx ? probe::CodeView::kPtx
                                    : probe::CodeView::kSass;
    std::fputs(probe::recorded_code(store, *trial, options.config, view, stderr_notices()).c_str(), stdout);
    return 0;
  }
  deliver(options.output, document_formats(), trial_document(*trial));
  return 0;
}

}  // namespace

std::function<int()> setup_show(CLI::App& app, const model::Provenance&) {
  auto options = std::make_shared<ShowOptions>();
  app.add_option(
         "trial", options->trial,
         "A trial's number, as `ktune report --all` lists it; or OP PROBLEM [VARIANT]: winner (without), default, "
         "winner:SESSION or NAME=V,…")
      ->required()
      ->expected(1, 3);
  add_db_option(app, options->db);
  app.add_option("--config", options->config, "The op's TOML, for an op that does not come with ktune");
  auto* ptx = app.add_flag("--ptx", options->ptx, "Its PTX");
  auto* sass = app.add_flag("--sass", options->sass, "Its machine code (needs nvdisasm or cuobjdump)")->excludes(ptx);
  auto* log = app.add_flag("--log", options->log, "The compiler's log")->excludes(ptx)->excludes(sass);
  add_output(app, options->output, document_formats());
  for (const char* name : {"--format", "--out"}) app.get_option(name)->excludes(ptx)->excludes(sass)->excludes(log);
  return [options] { return run_show(*options); };
}

}  // namespace ktune::cli
