#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/number_in.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/stderr_notices.h"
#include "cli/timer_option.h"
#include "gate/baseline_file.h"
#include "gate/baseline_save.h"
#include "gate/stored_gate.h"
#include "measure/measure.h"
#include "verdict/formats.h"

namespace ktune::cli {

namespace {

struct SaveOptions {
  gate::BaselineSaveOptions saved;
  std::string variant = "winner";
};

struct AcceptOptions {
  gate::StoredGateOptions run;
  std::string from;
  bool drop_missing = false;
};

struct ShowOptions {
  std::string baseline;
  Output output;
};

std::string key_line(const verdict::BaselineKey& key) {
  std::string line = key.device;
  if (!key.driver.empty()) line += ", driver " + key.driver;
  if (!key.toolkit.empty()) line += ", " + key.toolkit;
  if (key.power_limit_w > 0.0) line += fmt::format(", {:.0f} W", key.power_limit_w);
  return fmt::format("{}, {} L2", line, key.cache_state);
}

/// As many digits as a baseline is known to, for people and programs alike.
Cell figure(double value, int digits) { return Cell::number(fmt::format("{:.{}f}", value, digits)); }

Table baseline_table(std::span<const verdict::KernelHistory> histories) {
  Table table{{{"op", false, 0},
               {"problem", false, 0},
               {"variant", false, 4},
               {"timer", false, 2},
               {"time", true, 0, "", Audience::kPeople},
               {"time µs", true, 0, "time_us", Audience::kPrograms},
               {"ratio", true, 0},
               {"control", false, 5},
               {"runs", true, 1},
               {"limit %", true, 0, "limit_pct"},
               {"last", false, 3}},
              {}};
  for (const auto& [kernel, level] : histories) {
    table.rows.push_back({kernel.op, kernel.problem.text(), kernel.variant, kernel.timer,
                          format_time_us(level.kernel_us), figure(level.kernel_us, 3), figure(level.ratio, 3),
                          fmt::format("{} {}", kernel.control.problem.op, kernel.control.problem.text()), level.entries,
                          figure(level.limit_pct, 1), kernel.history.back().date.substr(0, 10)});
  }
  return table;
}

int print_baseline(const ShowOptions& options, const verdict::Baseline& baseline,
                   std::span<const verdict::KernelHistory> histories) {
  Document document;
  document.schema = "ktune.baseline-table/1";
  document.title = "Baseline of " + key_line(baseline.key);
  document.sections.push_back({"", {}, baseline_table(histories), {}});
  deliver(options.output, document_formats(), document);
  print_log("baseline  {} of {}\n", options.baseline, key_line(baseline.key));
  return 0;
}

int run_show(const ShowOptions& options) {
  check_output(options.output, document_formats(), {options.baseline});
  const verdict::Baseline baseline = gate::load_baseline(options.baseline);
  return print_baseline(options, baseline, verdict::histories_of(baseline.kernels, {}));
}

/// A level that its own processes leave open by more than the limit is no level to compare with.
void note_noisy(std::span<const verdict::KernelHistory> histories) {
  for (const auto& [kernel, level] : histories) {
    const verdict::HistoryEntry& last = kernel.history.back();
    const double open_pct = 2.0 * last.process_sd_pct / std::sqrt(static_cast<double>(last.processes));
    if (open_pct > level.limit_pct)
      print_log("note: {} varies by {:.1f} % from process to process: its ratio is known to ±{:.1f} % only\n",
                kernel.name(), last.process_sd_pct, open_pct);
  }
}

int run_save(SaveOptions& asked) {
  gate::BaselineSaveOptions& options = asked.saved;
  options.variant = sweep::parse_variant_choice(asked.variant);
  options.database = db_path(options.database);
  gate::save_baseline_run(options);
  const verdict::Baseline baseline = gate::load_baseline(options.run.baseline);
  const auto histories = verdict::histories_of(baseline.kernels, {});
  note_noisy(histories);
  print_log("saved     {}: commit it, then `ktune gate --baseline {}`\n", options.run.baseline, options.run.baseline);
  return print_baseline({options.run.baseline, {}}, baseline, histories);
}

void check_whole(const sweep::Selection& selection) {
  if (!selection.ops.empty() || !selection.configs.empty() || !selection.shapes.empty() || !selection.dtypes.empty() ||
      !selection.attrs.empty())
    throw Error(ErrorKind::kUsage, "--from takes the whole run: it has no --op, --config, --shape, --dtype or --attr",
                "without --from they choose what is measured now and taken");
}

int run_accept(AcceptOptions& options) {
  gate::load_baseline(options.run.baseline);
  gate::StoredRun run;
  if (options.from.empty()) {
    gate::check_stored_gate(options.run);
    run = gate::measure_stored_gate(options.run, sweep::device_facts(options.run.device, options.run.notices));
  } else {
    check_whole(options.run.selection);
    run.result = verdict::parse_result(read_file(options.from), options.from);
  }
  // What changed while it was timed is refused by accept_run: the run was judged against another state.
  const gate::BaselineLock lock(options.run.baseline);
  verdict::Baseline baseline = gate::load_baseline(options.run.baseline);
  const auto changes = verdict::accept_run(baseline, run.result, measure::kMeasurementProtocol, options.drop_missing);
  gate::remember_code(baseline, changes, run);
  gate::save_baseline(baseline, options.run.baseline);
  gate::tell_changes(options.run.notices, options.run.baseline, changes);
  return 0;
}

void bind_run(CLI::App& app, gate::StoredGateOptions& options) {
  app.add_option("file", options.baseline, "The baseline's file")->required();
  add_problems(app, options.selection);
  add_device_option(app, options.device);
  app.add_option("--processes", options.processes, "How many processes time each kernel beside its control")
      ->capture_default_str()
      ->check(CLI::Range(verdict::kFewestProcesses, 1000));
  app.add_option("--kernel-ms", options.kernel_ms, "Sampling time of one kernel in one process, milliseconds")
      ->capture_default_str()
      ->check(number_in(0.1, 1e6));
  app.add_option("--jobs", options.jobs, "Compile processes (0: one a core)")->check(CLI::Range(0, 1024));
}

CLI::App* bind_save(CLI::App& app, SaveOptions& asked) {
  gate::BaselineSaveOptions& options = asked.saved;
  CLI::App* save = app.add_subcommand("save", "Measure kernels beside their controls and write a new baseline");
  bind_run(*save, options.run);
  add_plans(*save, options.run.selection);
  add_db_option(*save, options.database);
  add_variant_option(*save, asked.variant);
  options.run.cache = "cold";
  save->add_option("--cache", options.run.cache, "State of L2 at each timed launch: cold, dirty, warm")
      ->capture_default_str();
  add_timer_option(*save, options.run.timer, "as in a sweep, kernel by kernel");
  auto* add = save->add_flag("--add", options.add, "Add kernels to a baseline of this machine");
  save->add_flag("--force", options.force, "Replace a baseline with its history")->excludes(add);
  return save;
}

CLI::App* bind_accept(CLI::App& app, AcceptOptions& options) {
  CLI::App* accept = app.add_subcommand(
      "accept", "Take a run's figures though it failed: what moved starts a new history at its new level");
  bind_run(*accept, options.run);
  accept->add_option("--from", options.from,
                     "What `ktune gate --baseline FILE --format json` wrote (without: measure now)");
  accept->add_flag("--drop-missing", options.drop_missing, "Drop kernels that the tree no longer has");
  return accept;
}

}  // namespace

std::function<int()> setup_baseline(CLI::App& app, const model::Provenance& provenance) {
  auto saving = std::make_shared<SaveOptions>();
  auto accepting = std::make_shared<AcceptOptions>();
  auto showing = std::make_shared<ShowOptions>();
  app.require_subcommand(1);
  const CLI::App* save = bind_save(app, *saving);
  const CLI::App* accept = bind_accept(app, *accepting);
  CLI::App* show =
      app.add_subcommand("show", "List a baseline's kernels: ratio, runs in the history, the limit they give");
  show->add_option("file", showing->baseline, "The baseline's file")->required();
  add_output(*show, showing->output, document_formats());
  return [=] {
    for (gate::StoredGateOptions* run : {&saving->saved.run, &accepting->run}) {
      run->provenance = provenance;
      run->notices = stderr_notices();
    }
    if (save->parsed()) return run_save(*saving);
    return accept->parsed() ? run_accept(*accepting) : run_show(*showing);
  };
}

}  // namespace ktune::cli
