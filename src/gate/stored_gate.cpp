#include "gate/stored_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "gate/baseline_file.h"
#include "gate/begin_result.h"
#include "gate/controlled_kernels.h"
#include "gate/tree_kernels.h"
#include "measure/measure.h"

namespace ktune::gate {

namespace {

void check_asked(const StoredGateOptions& options) {
  if (options.processes < verdict::kFewestProcesses)
    throw Error(ErrorKind::kUsage, fmt::format("{} processes are too few: fewer than {} have no 95 % interval",
                                               options.processes, verdict::kFewestProcesses));
  if (!options.cache.empty()) sweep::cache_state_of(options.cache);  // "did you mean"
}

/// The first thing that makes figures of here incomparable with the baseline's, with what to do.
std::optional<std::string> not_comparable(const verdict::Baseline& baseline,
                                          const std::vector<verdict::BaselineKernel>& kernels,
                                          const StoredGateOptions& options, const model::DeviceFacts& facts) {
  const std::string again = ", or make another baseline with `ktune baseline save`";
  if (!options.cache.empty() && options.cache != baseline.key.cache_state)
    return fmt::format("cache state: {} in the baseline, {} here: leave --cache out{}", baseline.key.cache_state,
                       options.cache, again);
  if (!options.timer.is_auto())
    for (const verdict::BaselineKernel& kernel : kernels)
      if (kernel.timer != name_of(options.timer))
        return fmt::format("timer: {} in the baseline ({}), {} here: leave --timer out{}", kernel.timer, kernel.name(),
                           name_of(options.timer), again);
  const auto field =
      verdict::differs(baseline.key, verdict::key_of(facts, baseline.key.cache_state, measure::kMeasurementProtocol));
  if (field) return *field + ": `ktune baseline save` makes a baseline of this machine as it is now";
  return std::nullopt;
}

void measure_kernels(StoredRun& run, const std::vector<verdict::KernelHistory>& histories, TreeKernels& tree,
                     const StoredGateOptions& options, sweep::KernelProcesses& processes) {
  std::vector<ControlledItem> items;
  for (const verdict::BaselineKernel& kernel : run.kernels) items.push_back(tree.find(kernel));
  ControlledKernels timed(items, processes, options.notices);
  std::vector<std::size_t> all(run.kernels.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  timed.time(all, options.processes, options.seed, false);
  std::vector<std::size_t> open;
  const auto judged = verdict::referenced(histories, timed.measured());
  for (const std::size_t i : all)
    if (verdict::needs_fresh(histories[i], judged[i], options.rules)) open.push_back(i);
  timed.time(open, options.processes, options.seed + 1, true);
  run.measured = timed.measured();
}

void append_to_file(const StoredGateOptions& options, StoredRun& run) {
  const BaselineLock lock(options.baseline);
  verdict::Baseline baseline = load_baseline(options.baseline);
  if (verdict::checksum_of(baseline) != run.result.baseline_checksum) {
    run.result.notes.push_back(options.baseline + " was changed while the gate ran: this run is not in its history");
    return;
  }
  const auto changes = verdict::append_run(baseline, run.result);
  if (changes.empty()) {
    options.notices.say(fmt::format("baseline  {} stays as it is: the run is {}", options.baseline,
                                    verdict::name_of(run.result.verdict)));
    return;
  }
  remember_code(baseline, changes, run);
  save_baseline(baseline, options.baseline);
  tell_changes(options.notices, options.baseline, changes);
  for (const verdict::BaselineChange& change : changes)
    if (change.moved) run.result.notes.push_back(fmt::format("{}: {}", change.kernel, change.what));
}

/// The commit that the whole run is named by: that of the kernels that are not ktune's own, where there are any.
std::string candidate_commit(const StoredRun& run) {
  for (std::size_t i = 0; i < run.kernels.size(); ++i)
    if (run.kernels[i].root != verdict::SpecRoot::kKtune && !run.result.rows[i].tree_commit.empty())
      return run.result.rows[i].tree_commit;
  return run.result.rows.front().tree_commit;
}

/// All but what was found.
void describe(verdict::Result& result, const StoredGateOptions& options, const model::DeviceFacts& facts) {
  result.base = options.baseline;
  result.candidate = ".";
  result.device = facts;
  result.delta_us = options.rules.delta_us;
  result.pairs = options.processes;
  result.seed = options.seed;
  result.pass_inconclusive = options.pass_inconclusive;
}

}  // namespace

void check_stored_gate(const StoredGateOptions& options) {
  const verdict::Baseline baseline = load_baseline(options.baseline);
  check_asked(options);
  select_kernels(baseline, options.selection);
}

void check_key(const verdict::Baseline& baseline, const std::string& path, const verdict::BaselineKey& here) {
  if (const auto field = verdict::differs(baseline.key, here))
    throw Error(ErrorKind::kNoData, fmt::format("{} is not comparable: {}", path, *field),
                "nothing was compared; `ktune baseline save` makes a baseline of this machine as it is now");
}

sweep::ProcessOptions process_options(const StoredGateOptions& options, const model::DeviceFacts& facts,
                                      model::CacheState cache_state) {
  sweep::ProcessOptions process;
  process.device = options.device;
  process.expected = facts;
  process.cache_state = cache_state;
  process.timer = options.timer;
  process.kernel_ms = options.kernel_ms;
  process.jobs = options.jobs;
  process.say = options.notices.line;
  return process;
}

StoredRun measure_stored_gate(const StoredGateOptions& options, const model::DeviceFacts& facts) {
  const double start = now_s();
  const verdict::Baseline baseline = load_baseline(options.baseline);
  check_asked(options);
  StoredRun run;
  run.result = begin_result(verdict::Mode::kStored, options.provenance);
  verdict::Result& result = run.result;
  result.baseline_checksum = verdict::checksum_of(baseline);
  run.kernels = select_kernels(baseline, options.selection);
  if (const auto why = not_comparable(baseline, run.kernels, options, facts)) {
    describe(result, options, facts);
    result.notes.push_back(fmt::format("{} is not comparable: {}", options.baseline, *why));
    return run;
  }
  std::set<std::string> timers;
  for (const verdict::BaselineKernel& kernel : run.kernels) timers.insert(kernel.timer);
  const auto processes =
      options.open_processes(facts, process_options(options, facts, sweep::cache_state_of(baseline.key.cache_state)));
  for (const std::string& timer : timers) processes->check_timer(model::timer_request_of(timer));
  TreeKernels tree(std::filesystem::absolute(options.baseline).parent_path(), options.selection.configs, facts,
                   options.provenance.commit);
  const auto histories = verdict::histories_of(run.kernels, options.rules);
  measure_kernels(run, histories, tree, options, *processes);

  describe(result, options, facts);
  result.rows = verdict::judge_stored(histories, run.measured, options.rules, result.notes);
  for (verdict::Row& row : result.rows) row.cache_state = baseline.key.cache_state;
  result.candidate_commit = candidate_commit(run);
  result.verdict = verdict::overall(result.rows);
  result.seconds = now_s() - start;
  return run;
}

verdict::Result run_stored_gate(const StoredGateOptions& options, const model::DeviceFacts& facts,
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

void remember_code(verdict::Baseline& baseline, const std::vector<verdict::BaselineChange>& changes,
                   const StoredRun& run) {
  for (verdict::BaselineKernel& kernel : baseline.kernels) {
    const auto changed = [&](const verdict::BaselineChange& change) {
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

void tell_changes(const Notices& notices, const std::string& path,
                  const std::vector<verdict::BaselineChange>& changes) {
  notices.say(fmt::format("baseline  {}", path));
  for (const verdict::BaselineChange& change : changes)
    notices.say(fmt::format("  {}: {}", change.kernel, change.what));
}

}  // namespace ktune::gate
