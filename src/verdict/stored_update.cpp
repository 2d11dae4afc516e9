// How a baseline's history grows. A failing run never enters it by itself: figures that crept up by half a limit a
// night would take their median with them, and the gate would follow a slope down without a word.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "verdict/stored.h"

namespace ktune::verdict {

namespace {

BaselineKernel* kernel_of(Baseline& baseline, const Row& row) {
  for (BaselineKernel& kernel : baseline.kernels)
    if (kernel.op == row.op && kernel.variant == row.base_variant && kernel.problem.text() == row.problem)
      return &kernel;
  return nullptr;
}

std::optional<HistoryEntry> entry_of_row(const Row& row, const Result& run) {
  if (row.base_figures_us.size() != row.candidate_figures_us.size()) return std::nullopt;
  std::vector<ControlledFigure> processes;
  for (std::size_t i = 0; i < row.base_figures_us.size(); ++i) {
    ControlledFigure& process = processes.emplace_back();
    process.kernel.time_us = row.candidate_figures_us[i];
    process.control.time_us = row.base_figures_us[i];
  }
  return entry_of(processes, run.date, row.tree_commit);
}

BaselineChange append(BaselineKernel& kernel, const HistoryEntry& entry) {
  kernel.history.push_back(entry);
  if (kernel.history.size() > kKeptEntries) kernel.history.erase(kernel.history.begin());
  return {kernel.name(), fmt::format("run {} of its history", kernel.history.size()), true, false};
}

BaselineChange reset(BaselineKernel& kernel, const HistoryEntry& entry) {
  const double old = kernel.history.back().ratio;
  kernel.history = {entry};
  kernel.code_hash.clear();  // of the code that was left behind
  return {kernel.name(),
          fmt::format("new level: {:.3f} of its control (was {:.3f}), its history begins anew", entry.ratio, old), true,
          true};
}

/// A kernel that moved has left its level, and a history over two levels tells no noise.
bool moved(Verdict verdict) {
  return verdict == Verdict::kRegressed || verdict == Verdict::kImproved || verdict == Verdict::kEnvironment;
}

/// Nothing where the row has no figures to take.
std::optional<BaselineChange> accept_row(BaselineKernel& kernel, const Row& row, const Result& run) {
  if (row.verdict == Verdict::kWrong || row.verdict == Verdict::kNoData) return std::nullopt;
  const std::optional<HistoryEntry> entry = entry_of_row(row, run);
  if (!entry) return std::nullopt;
  return moved(row.verdict) ? reset(kernel, *entry) : append(kernel, *entry);
}

/// A run's verdicts are of one state of the baseline: what was REGRESSED there may be the level by now.
void check_state(Baseline& baseline, const Result& run) {
  if (run.baseline_checksum == checksum_of(baseline)) return;
  const char* again = "gate again and take that run, or `ktune baseline accept` without --from: it measures now";
  for (const Row& row : run.rows) {
    const BaselineKernel* kernel = kernel_of(baseline, row);
    if (kernel == nullptr) continue;
    const auto entry = entry_of_row(row, run);
    const auto taken = [&](const HistoryEntry& known) {
      return entry && known.date == entry->date && known.commit == entry->commit &&
             std::abs(known.ratio / entry->ratio - 1.0) < 1e-5;  // a file holds seven digits
    };
    if (std::any_of(kernel->history.begin(), kernel->history.end(), taken))
      throw Error(ErrorKind::kUsage,
                  fmt::format("the baseline took this run already: {} has a run of {}", kernel->name(), run.date),
                  again);
  }
  throw Error(ErrorKind::kUsage, "the run was judged against another state of the baseline", again);
}

void check_run(Baseline& baseline, const Result& run, int protocol) {
  if (run.mode != Mode::kStored)
    throw Error(ErrorKind::kUsage, fmt::format("the run is a {} gate's, not a stored one's", name_of(run.mode)),
                "take the output of `ktune gate --baseline FILE --format json`");
  const auto check_key = [&](const std::string& cache_state) {
    if (const auto field = differs(baseline.key, key_of(run.device, cache_state, protocol)))
      throw Error(ErrorKind::kNoData, "the run is not comparable with the baseline: " + *field,
                  "`ktune baseline save` makes a baseline of another machine");
  };
  if (run.rows.empty()) check_key(baseline.key.cache_state);
  for (const Row& row : run.rows) {
    const BaselineKernel* kernel = kernel_of(baseline, row);
    if (kernel != nullptr && !row.timer.empty() && row.timer != kernel->timer)
      throw Error(ErrorKind::kNoData, fmt::format("the run is not comparable with the baseline: timer: {} in the "
                                                  "baseline ({}), {} here",
                                                  kernel->timer, kernel->name(), row.timer));
    check_key(row.cache_state.empty() ? baseline.key.cache_state : row.cache_state);
  }
}

}  // namespace

std::vector<BaselineChange> append_run(Baseline& baseline, const Result& run) {
  std::vector<BaselineChange> changes;
  if (exit_code_of(run.verdict, run.pass_inconclusive) != 0) return changes;
  check_state(baseline, run);
  for (const Row& row : run.rows) {
    if (row.verdict != Verdict::kPass && row.verdict != Verdict::kImproved) continue;
    BaselineKernel* kernel = kernel_of(baseline, row);
    if (kernel == nullptr) continue;
    if (auto change = accept_row(*kernel, row, run)) changes.push_back(std::move(*change));
  }
  return changes;
}

std::vector<BaselineChange> accept_run(Baseline& baseline, const Result& run, int protocol, bool drop_missing) {
  check_run(baseline, run, protocol);
  check_state(baseline, run);
  std::vector<BaselineChange> changes;
  for (const Row& row : run.rows) {
    BaselineKernel* kernel = kernel_of(baseline, row);
    if (kernel == nullptr) continue;
    if (drop_missing && row.verdict == Verdict::kNoData && row.candidate_variant.empty()) {
      changes.push_back({kernel->name(), "dropped: " + row.reason, true, false});
      baseline.kernels.erase(baseline.kernels.begin() + (kernel - baseline.kernels.data()));
    } else if (auto change = accept_row(*kernel, row, run)) {
      changes.push_back(std::move(*change));
    } else {
      changes.push_back(
          {kernel->name(),
           fmt::format("stays as it was: {}{}{}", name_of(row.verdict), row.reason.empty() ? "" : ", ", row.reason),
           false, false});
    }
  }
  if (std::none_of(changes.begin(), changes.end(), [](const BaselineChange& change) { return change.taken; }))
    throw Error(ErrorKind::kNoData, "the run has nothing that the baseline could take",
                "its kernels failed or are not the baseline's: `ktune baseline show` lists those");
  return changes;
}

}  // namespace ktune::verdict
