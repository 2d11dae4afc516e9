#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/comparison.h"
#include "model/outcome.h"
#include "verdict/baseline.h"
#include "verdict/history.h"
#include "verdict/result.h"

// The stored gate's rule: a kernel's ratio to its control, against the history of that ratio.

namespace ktune::verdict {

/// One process: the kernel and its control.
struct ControlledFigure {
  model::ProcessFigure kernel;
  model::ProcessFigure control;
};

/// What this run found of one kernel of the baseline.
struct StoredMeasurement {
  std::vector<ControlledFigure> processes;
  std::vector<ControlledFigure> fresh;    ///< second round: of suspects, and of what the first could not decide
  std::optional<model::Failure> failure;  ///< it did not compile, verify or run
  std::string missing;                    ///< why the tree no longer has it; "" when it has
  std::string code_hash, control_code_hash;
  std::string tree_commit;  ///< Row::tree_commit
};

/// The measurements as they are judged: the control of what is its own is its level's time, moved as the controls of
/// the other kernels moved (where their code is the baseline's), which is what the machine did.
std::vector<StoredMeasurement> referenced(std::span<const KernelHistory> kernels,
                                          std::span<const StoredMeasurement> measured);

/// A run's figures as an entry of the history: throttled and failed processes are left out. Nothing where fewer than
/// kFewestProcesses are left, or more than a fifth had to be left out.
std::optional<HistoryEntry> entry_of(std::span<const ControlledFigure> processes, const std::string& date,
                                     const std::string& commit);

/// After the first round, of what `referenced` gives: must this kernel be timed again in fresh processes?
bool needs_fresh(const KernelHistory& kernel, const StoredMeasurement& measured, const StoredRules& rules);

/// A row for each of the baseline's kernels, in its order; `measured` has one each. A row's base is the history's
/// level, its candidate this run; base_figures_us are the control's, process by process; candidate_variant is empty
/// where the tree no longer has the kernel. A whole machine that moved becomes ENVIRONMENT, or a note where the ratios
/// stood still.
std::vector<Row> judge_stored(std::span<const KernelHistory> kernels, std::span<const StoredMeasurement> measured,
                              const StoredRules& rules, std::vector<std::string>& notes);

/// What became of a baseline's kernels, for one line each.
struct BaselineChange {
  std::string kernel;
  std::string what;    ///< "run 11 of its history", "new level: 1.020 of its control (was 0.980)"
  bool taken = true;   ///< false: it stays as it was
  bool moved = false;  ///< it starts a new history
};

/// Adds a run's passing kernels to their histories; what IMPROVED starts a new one, as accept_run does. A run whose
/// verdict blocks changes nothing. Throws Error(kUsage) where the baseline is not the one that the run was judged
/// against.
std::vector<BaselineChange> append_run(Baseline& baseline, const Result& run);

/// Takes a run's figures though it failed: kernels that were REGRESSED, IMPROVED or ENVIRONMENT start a new history at
/// their new level, the others' figures are appended; what did not verify or was not timed stays as it was. A kernel
/// that the tree no longer has is dropped where `drop_missing` says so. Throws Error(kUsage) for a run that is not a
/// stored gate's, that it has taken already, or that was judged against another state of the baseline: its verdicts
/// say nothing of this one. Throws Error(kNoData) where the device differs, or the run has nothing to take.
std::vector<BaselineChange> accept_run(Baseline& baseline, const Result& run, int protocol, bool drop_missing);

}  // namespace ktune::verdict
