#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <thread>

#include "base/error.h"
#include "base/process.h"
#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/clock_option.h"
#include "cli/commands.h"
#include "cli/number_in.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/stderr_notices.h"
#include "cli/sweep_print.h"
#include "cli/timer_option.h"
#include "probe/count_winners.h"
#include "report/report.h"
#include "search/search.h"
#include "sweep/progress_text.h"

namespace ktune::cli {

namespace {

struct SweepOptions {
  sweep::Selection selection;
  sweep::Options sweep;
  std::string device = "auto";
  std::string db;
  std::string cache = "cold";
  Output output;
  bool per_problem = false;
  bool per_key = false;
  bool dry_run = false;
  bool no_reuse = false;
  bool counters = false;
  int clock_mhz = 0;
  bool no_race = false;
};

std::string strategy_help() {
  std::string text = "Which variants, in which order:";
  for (const auto& strategy : search::strategies()) text += fmt::format("\n{}: {}", strategy.name, strategy.summary);
  return text;
}

void bind_options(CLI::App& app, SweepOptions& options) {
  add_space(app, options.selection);
  add_plans(app, options.selection);
  add_device_option(app, options.device);
  add_db_option(app, options.db);
  auto* per_key = app.add_flag("--per-key", options.per_key,
                               "Also choose one variant for all problems of a key, with its worst regret");
  app.add_flag("--per-problem", options.per_problem, "Tune every problem by itself (the default)")->excludes(per_key);
  app.add_flag("--dry-run", options.dry_run, "Show the plan: variants, rejected, re-usable; measure nothing");
  app.add_flag("--explain", options.sweep.explain, "Say why each variant was rejected, re-used or measured again");
  app.add_flag("--no-reuse", options.no_reuse, "Measure again what an earlier session measured with nothing changed");
  app.add_flag("--counters", options.counters,
               "Afterwards count the DRAM bytes of each winner and default, in a process of its own");
  add_clock_option(app, options.clock_mhz);
  app.add_option("--budget", options.sweep.budget_s,
                 "Stop after about this many seconds, keeping what is done (0: no limit). Each problem gets an equal "
                 "share of what is left, and keeps a part of it to confirm its winner. Enumerating the variants takes "
                 "at most half of the budget: points beyond are counted as not visited")
      ->check(number_in(0.0, 1e9));
  app.add_option("--jobs", options.sweep.jobs, "Compile processes (0: one a core)")->check(CLI::Range(0, 1024));
  app.add_option("--strategy", options.sweep.strategy, strategy_help())->capture_default_str();
  app.add_option("--seed", options.sweep.seed, "Seed of inputs and random strategies")
      ->capture_default_str()
      ->check(is_seed());
  app.add_option("--cache", options.cache,
                 "State of L2 at each timed launch: cold (flushed, left clean), dirty (as do_bench leaves it), warm")
      ->capture_default_str();
  add_timer_option(app, options.sweep.timer, automatic_timer_text());
  app.add_option("--trial-ms", options.sweep.trial_ms, "Sampling time of one trial, milliseconds")
      ->capture_default_str()
      ->check(number_in(0.1, 1e6));
  app.add_flag("--no-race", options.no_race,
               "Sample every variant for its whole --trial-ms, however slow or well known it is");
  app.add_option("--trial-deadline", options.sweep.trial_deadline_s, "Seconds after which a trial is killed")
      ->capture_default_str()
      ->check(number_in(0.1, 1e6));
  app.add_option("--compile-deadline", options.sweep.compile_deadline_s, "Seconds after which a compile is killed")
      ->capture_default_str()
      ->check(number_in(0.1, 1e6));
  add_output(app, options.output, report::formats());
}

void check_names(SweepOptions& options) {
  options.sweep.cache_state = sweep::cache_state_of(options.cache);
  check_output(options.output, report::formats(), inputs_of(options.selection, options.device, db_path(options.db)));
  for (const double value : {options.sweep.budget_s, options.sweep.trial_ms, options.sweep.trial_deadline_s,
                             options.sweep.compile_deadline_s})
    if (!std::isfinite(value))
      throw Error(ErrorKind::kUsage, "a time that is not a number", "seconds or milliseconds, as the option says");
  std::vector<std::string> names;
  for (const auto& strategy : search::strategies()) names.emplace_back(strategy.name);
  if (std::find(names.begin(), names.end(), options.sweep.strategy) == names.end())
    throw Error(
        ErrorKind::kUsage,
        fmt::format("unknown strategy '{}'{}", options.sweep.strategy, did_you_mean(options.sweep.strategy, names)),
        "one of " + join(names, ", "));
}

int dry_run(const std::vector<sweep::SharedProblem>& prepared, const model::DeviceFacts& facts,
            const SweepOptions& options) {
  std::optional<store::Store> store;
  try {
    store.emplace(db_path(options.db), store::Store::Mode::kRead);
  } catch (const Error&) {  // no database yet: nothing to re-use
  }
  Table table = plan_table();
  std::int64_t to_measure = 0;
  for (const auto& problem : prepared) {
    const std::int64_t reusable =
        store && !options.no_reuse ? sweep::count_reusable(*problem, facts, *store, options.sweep) : 0;
    add_plan_row(table, *problem, reusable);
    to_measure += problem->space.size() - reusable;
    if (options.sweep.explain) print_rejections(*problem);
  }
  Document document;
  document.schema = "ktune.plan/1";
  document.title = "ktune sweep --dry-run";
  document.sections.push_back({"", {}, std::move(table), {}});
  deliver(options.output, document_formats(), document);
  print_log("device {} ({}), database {}\n{} variants to compile, verify and measure; nothing was run\n", facts.name,
            options.device, db_path(options.db), to_measure);
  return 0;
}

/// The command that goes on from here: what was measured is not measured again.
std::string resume_command(std::string command) {
  const std::string flag = " --no-reuse";
  if (const auto at = command.find(flag); at != std::string::npos) command.erase(at, flag.size());
  return command;
}

/// A default that was not measured leaves no speed-up to print: said, since the columns are only empty.
void note_missing_defaults(const report::Report& report) {
  for (const report::Row& row : report.rows)
    if (row.time_us && !row.default_time_us)
      print_log(
          "note: the default of {} {} was not measured, so there is no speed-up: see `ktune report --explain {} "
          "\"{}\"`\n",
          row.op, row.problem.text(), row.op, row.problem.text());
}

/// "3 variants failed (2 WrongResult, 1 Crashed); …": a winner beside them says nothing of that.
void note_failures(const report::Report& report) {
  std::map<std::string, std::int64_t> failed;
  const report::Row* most = nullptr;
  for (const report::Row& row : report.rows) {
    for (const auto& [outcome, count] : row.failed) failed[outcome] += count;
    if (report::failed_of(row) > (most == nullptr ? 0 : report::failed_of(*most))) most = &row;
  }
  if (most == nullptr) return;
  std::int64_t total = 0;
  std::vector<std::string> parts;
  for (const auto& [outcome, count] : failed) {
    total += count;
    parts.push_back(fmt::format("{} {}", count, outcome));
  }
  print_log("{} variant{} failed ({}): `ktune report --explain {} \"{}\"` says why\n", total, total == 1 ? "" : "s",
            join(parts, ", "), most->op, most->problem.text());
}

int finish(const sweep::Summary& summary, const std::vector<sweep::SharedProblem>& prepared,
           const SweepOptions& options) {
  store::Store store(db_path(options.db), store::Store::Mode::kRead);
  const report::Report report = session_report(store, summary.session);
  if (options.per_key) {
    store::Filter own;
    own.session = summary.session;
    deliver(options.output, per_key_formats(), Tuned{report, sweep::choose_per_key(prepared, store.load(own))});
  } else {
    deliver(options.output, report::formats(), report);
  }
  note_failures(report);
  print_summary(summary, store.path());
  note_missing_defaults(report);
  if (summary.interrupted)
    throw Error(ErrorKind::kInterrupted, "interrupted; what was measured is kept",
                "resume with: " + resume_command(options.sweep.provenance.command));
  if (!summary.failed_problems.empty())
    throw Error(ErrorKind::kNo, "no reference for: " + join(summary.failed_problems, "\n  "),
                "a reference that does not compile or run leaves nothing to verify against");
  if (report.rows.empty() || std::none_of(report.rows.begin(), report.rows.end(),
                                          [](const report::Row& row) { return row.time_us.has_value(); }))
    throw Error(ErrorKind::kNoData, "no variant was measured",
                fmt::format("`ktune report --explain OP PROBLEM --db {}` lists what failed and why", store.path()));
  return 0;
}

int run_sweep(SweepOptions& options) {
  check_names(options);
  sweep::check_selection(options.selection);  // a typing mistake is told before a device is opened
  const model::DeviceFacts facts = sweep::device_facts(options.device, stderr_notices());
  sweep::check_timer(options.device, options.sweep.timer);
  const std::vector<sweep::Work> work = sweep::resolve_selection(options.selection, sweep::sweep_use(facts));
  options.sweep.device = options.device;
  options.sweep.reuse = !options.no_reuse;
  options.sweep.race = !options.no_race;
  const double began_s = now_s();
  const auto prepared = sweep::prepare(work, facts, options.sweep.seed, sweep::enumeration_end(options.sweep.budget_s));
  if (options.sweep.budget_s > 0.0)
    options.sweep.budget_s = std::max(1e-3, options.sweep.budget_s - (now_s() - began_s));
  if (options.dry_run) return dry_run(prepared, facts, options);

  const std::string database = db_path(options.db);
  ProgressLine line;
  std::optional<HeldClock> held;
  sweep::Observer observer;
  observer.opened = [&] {
    print_start(facts, options.device, database, prepared);
    if (options.sweep.explain)
      for (const auto& problem : prepared) print_rejections(*problem);
    held.emplace(options.clock_mhz, facts);
  };
  observer.progress = [&](const sweep::ProblemStatus& status) { line.update(sweep::progress_text(status)); };
  observer.message = [&](const std::string& text) { line.print(text); };
  const sweep::Summary summary = sweep::run(prepared, facts, database, options.sweep, observer);
  if (options.counters && !summary.interrupted)
    probe::count_winners(prepared, facts, database, summary.session, options.sweep, observer.message);
  line.clear();
  return finish(summary, prepared, options);
}

}  // namespace

std::function<int()> setup_sweep(CLI::App& app, const model::Provenance& provenance) {
  auto options = std::make_shared<SweepOptions>();
  options->sweep.provenance = provenance;
  bind_options(app, *options);
  return [options] { return run_sweep(*options); };
}

}  // namespace ktune::cli
