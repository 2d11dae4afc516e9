#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/comparison.h"
#include "model/outcome.h"
#include "verdict/baseline.h"
#include "verdict/result.h"

// The stored gate's rule: a kernel's ratio to its control, against the history of that ratio.

namespace ktune::verdict {

/// No interval of 95 % can be had from fewer processes.
inline constexpr int kFewestProcesses = 6;

struct StoredRules {
  double first_pct = 5.0;   ///< the limit until a kernel has `sessions` of history
  double least_pct = 1.0;   ///< no limit below this,
  double delta_us = 0.15;   ///< nor below this,
  int sessions = 10;        ///< before the history says how much it varies
  std::size_t window = 20;  ///< newest sessions that are looked at
  double level = 0.95;      ///< of the shift's interval, two-sided
};

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

/// Centre of a kernel's history: the median of the newest sessions.
struct Level {
  double ratio = 0.0, kernel_us = 0.0, control_us = 0.0;
  double limit_pct = 0.0;  ///< see limit_pct
  int sessions = 0;        ///< of the whole history
};
/// The limit is first_pct until there is enough history, then 3 · 1.4826 · MAD · √(1 + π/2H) of the log ratios around
/// their median (a new session's median against that of H old ones, three sigma: measurement.md 1.1), at least
/// least_pct; above first_pct only as far as the sessions differ that much from one to the next (1.4826/√2 · median
/// |difference| in the place of 1.4826 · MAD); and in each case at least delta_us.
Level level_of(const BaselineKernel& kernel, const StoredRules& rules);

/// ktune's own copy, which is what kernels are divided by. Its ratio to itself says nothing, so it is divided by its
/// time of before: its level is of kernel_us, the ratio 1.
bool is_own_control(const BaselineKernel& kernel);

/// The measurements as they are judged: the control of what is its own is its level's time, moved as the controls of
/// the other kernels moved (where their code is the baseline's), which is what the machine did.
std::vector<StoredMeasurement> referenced(std::span<const BaselineKernel> kernels,
                                          std::span<const StoredMeasurement> measured, const StoredRules& rules);

/// A run's figures as a session of history: throttled and failed processes are left out. Nothing where fewer than
/// kFewestProcesses are left, or more than a fifth had to be left out.
std::optional<Session> session_of(std::span<const ControlledFigure> processes, const std::string& date,
                                  const std::string& commit);

/// After the first round, of what `referenced` gives: must this kernel be timed again in fresh processes?
bool needs_fresh(const BaselineKernel& kernel, const StoredMeasurement& measured, const StoredRules& rules);

/// A row for each of the baseline's kernels, in its order; `measured` has one each. A row's base is the history's
/// level, its candidate this run; base_figures_us are the control's, process by process; candidate_variant is empty
/// where the tree no longer has the kernel. A whole machine that moved becomes ENVIRONMENT, or a note where the ratios
/// stood still.
std::vector<Row> judge_stored(std::span<const BaselineKernel> kernels, std::span<const StoredMeasurement> measured,
                              const StoredRules& rules, std::vector<std::string>& notes);

/// What became of a baseline's kernels, for one line each.
struct BaselineChange {
  std::string kernel;
  std::string what;    ///< "session 11 of its history", "new level: 1.020 of its control (was 0.980)"
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
