#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
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
};

void print_trial(const model::TrialRecord& trial) {
  fmt::print("trial      {}{}\nop         {} {}\nvariant    {}{}\noutcome    {}{}\n", trial.id,
             trial.is_final ? " (a finalist's second timing)" : "", trial.op, trial.problem_text, trial.variant.text(),
             trial.is_default ? " (the default)" : "", name_of(trial.outcome),
             trial.reason.empty() ? "" : ": " + trial.reason);
  if (trial.outcome == model::Outcome::kMeasured)
    fmt::print(
        "time       {} (median of {}, {:.0f} % interval {} to {}, p10 {}, p90 {})\ntimer      {}, cache {}\n"
        "verified   worst difference {:.3f} of the tolerance\n",
        format_time_us(trial.timing.time_us), trial.timing.n, 100.0 * trial.timing.ci_level,
        format_time_us(trial.timing.ci_low_us), format_time_us(trial.timing.ci_high_us),
        format_time_us(trial.timing.p10_us), format_time_us(trial.timing.p90_us), name_of(trial.samples.timer),
        name_of(trial.samples.cache_state), trial.verify_margin);
  for (const auto& [kernel, resources] : trial.resources) {
    if (resources.registers < 0) continue;  // a host compiler does not say
    fmt::print("kernel     {}: {} registers, {} B shared, {} B local, {} B spilled\n", kernel, resources.registers,
               resources.shared_bytes, resources.local_bytes, resources.spill_store_bytes + resources.spill_load_bytes);
  }
  for (const std::string& warning : trial.warnings) fmt::print("warning    {}\n", warning);
  fmt::print("date       {}\nsession    {}\n", trial.date, trial.session);
  for (const auto& [part, value] : trial.fingerprint_parts) fmt::print("depends on {} = {}\n", part, value);
}

/// The trial's number: as given, or of OP PROBLEM and a variant.
std::int64_t number_of(const ShowOptions& options, store::Store& store) {
  if (options.trial.size() == 1) return parse_integer(options.trial[0], "a trial's number");
  store::Filter filter;
  filter.ops = {options.trial[0]};
  const sweep::VariantChoice choice =
      sweep::parse_variant_choice(options.trial.size() == 3 ? options.trial[2] : "winner");
  return probe::find_trial(store.load(filter), options.trial[0], options.trial[1], choice);
}

int run_show(const ShowOptions& options) {
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
  print_trial(*trial);
  if (!trial->detail.empty()) fmt::print("detail\n{}\n", trial->detail);
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
  app.add_flag("--log", options->log, "The compiler's log")->excludes(ptx)->excludes(sass);
  return [options] { return run_show(*options); };
}

}  // namespace ktune::cli
