#include "cli/gate_stored.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "cli/controlled_kernels.h"
#include "cli/gate_result.h"
#include "cli/stored_kernels.h"
#include "measure/measure.h"

namespace ktune::cli {

namespace {

void check_asked(const StoredGateOptions& options) {
  if (options.processes < gate::kFewestProcesses)
    throw Error(ErrorKind::kUsage, fmt::format("{} processes are too few: fewer than {} have no 95 % interval",
                                               options.processes, gate::kFewestProcesses));
  if (!options.selection.params.empty() || !options.selection.plans.empty())
    throw Error(ErrorKind::kUsage, "a baseline names its problems and variants: --param and --plan say nothing here",
                "--op, --shape, --dtype and --attr choose among its kernels");
  if (!options.cache.empty()) cache_state_of(options.cache);  // "did you mean"
}

/// The first thing that makes figures of here incomparable with the baseline's, with what to do.
std::optional<std::string> not_comparable(const gate::Baseline& baseline,
                                          const std::vector<gate::BaselineKernel>& kernels,
                                          const StoredGateOptions& options, const model::DeviceFacts& facts) {
  const std::string again = ", or make another baseline with `ktune baseline save`";
  if (!options.cache.empty() && options.cache != baseline.key.cache_state)
    return fmt::format("cache state: {} in the baseline, {} here: leave --cache out{}", baseline.key.cache_state,
                       options.cache, again);
  if (!options.timer.empty() && options.timer != "auto")
    for (const gate::BaselineKernel& kernel : kernels)
      if (kernel.timer != options.timer)
        return fmt::format("timer: {} in the baseline ({}), {} here: leave --timer out{}", kernel.timer, kernel.name(),
                           options.timer, again);
  const auto field =
      gate::differs(baseline.key, gate::key_of(facts, baseline.key.cache_state, measure::kMeasurementProtocol));
  if (field) return *field + ": `ktune baseline save` makes a baseline of this machine as it is now";
  return std::nullopt;
}

void measure_kernels(StoredRun& run, TreeKernels& tree, const StoredGateOptions& options,
                     const model::DeviceFacts& facts, const sweep::ProcessOptions& process) {
  std::vector<ControlledItem> items;
  for (const gate::BaselineKernel& kernel : run.kernels) items.push_back(tree.find(kernel));
  ControlledKernels timed(items, facts, process);
  std::vector<std::size_t> all(run.kernels.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  timed.time(all, options.processes, options.seed, false);
  std::vector<std::size_t> open;
  const auto judged = gate::referenced(run.kernels, timed.measured(), options.rules);
  for (const std::size_t i : all)
    if (gate::needs_fresh(run.kernels[i], judged[i], options.rules)) open.push_back(i);
  timed.time(open, options.processes, options.seed + 1, true);
  run.measured = timed.measured();
}

void append_to_file(const StoredGateOptions& options, StoredRun& run) {
  const gate::BaselineLock lock(options.baseline);
  gate::Baseline baseline = gate::load_baseline(options.baseline);
  if (gate::checksum_of(baseline) != run.result.baseline_checksum) {
    run.result.notes.push_back(options.baseline + " was changed while the gate ran: this run is not in its history");
    return;
  }
  const auto changes = gate::append_run(baseline, run.result);
  if (changes.empty()) {
    fmt::print(stderr, "baseline  {} stays as it is: the run is {}\n", options.baseline,
               gate::name_of(run.result.verdict));
    return;
  }
  remember_code(baseline, changes, run);
  gate::save_baseline(baseline, options.baseline);
  print_changes(options.baseline, changes);
  for (const gate::BaselineChange& change : changes)
    if (change.moved) run.result.notes.push_back(fmt::format("{}: {}", change.kernel, change.what));
}

/// The commit that the whole run is named by: that of the kernels that are not ktune's own, where there are any.
std::string candidate_commit(const StoredRun& run) {
  for (std::size_t i = 0; i < run.kernels.size(); ++i)
    if (run.kernels[i].root != gate::SpecRoot::kKtune && !run.result.rows[i].tree_commit.empty())
      return run.result.rows[i].tree_commit;
  return run.result.rows.front().tree_commit;
}

/// All but what was found.
void describe(gate::Result& result, const StoredGateOptions& options, const model::DeviceFacts& facts) {
  result.base = options.baseline;
  result.candidate = ".";
  result.device = facts;
  result.delta_us = options.rules.delta_us;
  result.pairs = options.processes;
  result.seed = options.seed;
  result.pass_inconclusive = options.pass_inconclusive;
}

}  // namespace

void add_stored_gate(CLI::App& app, StoredGateOptions& options) {
  app.add_option("--baseline", options.baseline,
                 "Compare the working tree with a stored baseline (`ktune baseline save`) by ratios to a copy timed in "
                 "the same process; needs no base build")
      ->excludes("--base")
      ->excludes("--new")
      ->excludes("--aa")
      ->excludes("--from")
      ->excludes("--variant");
  app.add_option("--processes", options.processes, "With --baseline: processes a round")
      ->capture_default_str()
      ->check(CLI::Range(gate::kFewestProcesses, 1000));
  app.add_flag("--update", options.update, "With --baseline: append a passing run to its history")->needs("--baseline");
}

void check_stored_gate(const StoredGateOptions& options) {
  const gate::Baseline baseline = gate::load_baseline(options.baseline);
  check_asked(options);
  select_kernels(baseline, options.selection);
}

void check_key(const gate::Baseline& baseline, const std::string& path, const gate::BaselineKey& here) {
  if (const auto field = gate::differs(baseline.key, here))
    throw Error(ErrorKind::kNoData, fmt::format("{} is not comparable: {}", path, *field),
                "nothing was compared; `ktune baseline save` makes a baseline of this machine as it is now");
}

sweep::ProcessOptions process_options(const StoredGateOptions& options, const model::DeviceFacts& facts,
                                      model::CacheState cache_state) {
  sweep::ProcessOptions process;
  process.device = options.device;
  process.expected = facts;
  process.cache_state = cache_state;
  process.timer = options.timer.empty() ? "auto" : options.timer;
  process.kernel_ms = options.kernel_ms;
  process.jobs = options.jobs;
  process.say = [](const std::string& text) { fmt::print(stderr, "{}\n", text); };
  return process;
}

StoredRun measure_stored_gate(const StoredGateOptions& options, const model::DeviceFacts& facts) {
  const double start = now_s();
  const gate::Baseline baseline = gate::load_baseline(options.baseline);
  check_asked(options);
  StoredRun run;
  run.result = begin_result(gate::Mode::kStored);
  gate::Result& result = run.result;
  result.baseline_checksum = gate::checksum_of(baseline);
  run.kernels = select_kernels(baseline, options.selection);
  if (const auto why = not_comparable(baseline, run.kernels, options, facts)) {
    describe(result, options, facts);
    result.notes.push_back(fmt::format("{} is not comparable: {}", options.baseline, *why));
    return run;
  }
  std::set<std::string> timers;
  for (const gate::BaselineKernel& kernel : run.kernels) timers.insert(kernel.timer);
  for (const std::string& timer : timers) check_timer(options.device, timer);
  TreeKernels tree(std::filesystem::absolute(options.baseline).parent_path(), options.selection.configs, facts);
  measure_kernels(run, tree, options, facts, process_options(options, facts, cache_state_of(baseline.key.cache_state)));

  describe(result, options, facts);
  result.rows = gate::judge_stored(run.kernels, run.measured, options.rules, result.notes);
  for (gate::Row& row : result.rows) row.cache_state = baseline.key.cache_state;
  result.candidate_commit = candidate_commit(run);
  result.verdict = gate::overall(result.rows);
  result.seconds = now_s() - start;
  return run;
}

gate::Result run_stored_gate(const StoredGateOptions& options, const model::DeviceFacts& facts,
                             std::optional<Error>& unkept) {
  StoredRun run = measure_stored_gate(options, facts);
  try {
    if (options.update) append_to_file(options, run);
  } catch (const Error& error) {  // what was measured is judged and shown all the same
    unkept = error;
    run.result.notes.push_back("the baseline was not updated: " + error.message());
  }
  return std::move(run.result);
}

void remember_code(gate::Baseline& baseline, const std::vector<gate::BaselineChange>& changes, const StoredRun& run) {
  for (gate::BaselineKernel& kernel : baseline.kernels) {
    const auto changed = [&](const gate::BaselineChange& change) {
      return change.taken && change.kernel == kernel.name();
    };
    if (std::none_of(changes.begin(), changes.end(), changed)) continue;
    for (std::size_t i = 0; i < run.kernels.size(); ++i) {
      if (run.kernels[i].name() != kernel.name()) continue;
      kernel.code_hash = run.measured[i].code_hash;
      kernel.control.code_hash = run.measured[i].control_code_hash;
    }
  }
}

void print_changes(const std::string& path, const std::vector<gate::BaselineChange>& changes) {
  fmt::print(stderr, "baseline  {}\n", path);
  for (const gate::BaselineChange& change : changes) fmt::print(stderr, "  {}: {}\n", change.kernel, change.what);
}

}  // namespace ktune::cli
