// A stored baseline is of another day: clocks, driver and temperature are not those of its sessions. So each kernel is
// divided by a control, the copy of as many bytes, timed in the same process; what the machine does to both cancels.
// Absolute times are shown and decide nothing, but for the copy itself, which would be divided by itself.
//
// The unit is the process. A run's ratio is the Hodges-Lehmann estimate over its processes, its interval the exact one
// that belongs to it. The median of the processes would bear more of them in a slow mode (four of nine instead of two),
// but such modes were assumed, not seen. Simulated with the process noise of an H200, at 10 µs after ten sessions: the
// median leaves 0.27 % of unchanged kernels INCONCLUSIVE and finds +2 % in 77 %, this 0.01 % and 86 %.
//
// What is beyond its limit, or cannot be decided, is timed once more in fresh processes, and only what is beyond it
// both times is called. One round would leave 2 % of unchanged kernels of 5 to 10 µs undecided, so more than every
// second night of forty.

#include "verdict/stored.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "stats/stats.h"
#include "verdict/environment.h"
#include "verdict/pairs.h"

namespace ktune::verdict {

namespace {

double log_of_percent(double pct) { return std::log1p(pct / 100.0); }

/// What one round, or both together, say of the ratio's shift, as logarithms.
struct Shift {
  double value = 0.0;
  double low = 0.0, high = 0.0;
};

bool usable(const model::ProcessFigure& figure) { return model::is_time(figure.time_us) && !figure.throttled; }

std::vector<ControlledFigure> usable_of(std::span<const ControlledFigure> processes) {
  std::vector<ControlledFigure> kept;
  for (const ControlledFigure& process : processes)
    if (usable(process.kernel) && usable(process.control)) kept.push_back(process);
  return kept;
}

std::vector<double> log_ratios(std::span<const ControlledFigure> processes) {
  std::vector<double> ratios;
  for (const ControlledFigure& process : processes)
    ratios.push_back(std::log(process.kernel.time_us / process.control.time_us));
  return ratios;
}

/// "" when there are enough processes that nothing disturbed.
std::string disturbed(std::span<const ControlledFigure> processes) {
  const std::size_t kept = usable_of(processes).size();
  const std::size_t lost = processes.size() - kept;
  if (kept < kFewestProcesses)
    return fmt::format("{} of {} processes gave figures, {} are needed", kept, processes.size(), kFewestProcesses);
  if (lost * 5 > processes.size())
    return fmt::format("{} of {} processes were disturbed (throttled, or a worker died)", lost, processes.size());
  return {};
}

Shift shift_of(std::span<const ControlledFigure> processes, const Level& level, const StoredRules& rules) {
  const std::vector<double> ratios = log_ratios(usable_of(processes));
  const double centre = std::log(level.ratio);
  const stats::Interval interval = stats::hodges_lehmann_interval(ratios, rules.level);
  return {stats::hodges_lehmann(ratios) - centre, interval.low - centre, interval.high - centre};
}

bool slower(const Shift& shift, const Level& level) {
  return shift.value >= log_of_percent(level.limit_pct) && shift.low > 0.0;
}
bool faster(const Shift& shift, const Level& level) {
  return shift.value <= -log_of_percent(level.limit_pct) && shift.high < 0.0;
}

Verdict decide(const StoredMeasurement& measured, const Shift& all, const Level& level, const StoredRules& rules) {
  const Shift first = shift_of(measured.processes, level, rules);
  if (!measured.fresh.empty()) {
    const Shift second = shift_of(measured.fresh, level, rules);
    if (slower(first, level) && slower(second, level)) return Verdict::kRegressed;
    if (faster(first, level) && faster(second, level)) return Verdict::kImproved;
  }
  return all.high < log_of_percent(level.limit_pct) ? Verdict::kPass : Verdict::kInconclusive;
}

std::string inconclusive_reason(const Row& row, const StoredMeasurement& measured) {
  if (measured.fresh.empty()) return "it was not timed again in fresh processes";
  if (row.shift_pct >= row.delta_pct)
    return fmt::format("beyond its limit of {:.1f} %, but not in both rounds of processes", row.delta_pct);
  return fmt::format("the interval reaches {:+.1f} %, the limit is {:.1f} %", row.high_pct, row.delta_pct);
}

/// Which code ran is no part of the verdict, but it says where to look.
std::string code_reason(const BaselineKernel& kernel, const StoredMeasurement& measured) {
  if (kernel.code_hash.empty() || kernel.code_hash != measured.code_hash) return {};
  return "its machine code is the baseline's: look at the machine, or at its launches";
}

Row named_row(const BaselineKernel& kernel, const StoredMeasurement& measured) {
  Row row;
  row.op = kernel.op;
  row.problem = kernel.problem.text();
  row.base_variant = kernel.variant;
  row.candidate_variant = kernel.variant;
  row.source = kernel.source;
  row.tree_commit = measured.tree_commit;
  row.timer = kernel.timer;
  return row;
}

void fill_figures(Row& row, const Level& level, std::span<const ControlledFigure> processes) {
  row.base_us = level.kernel_us;
  row.delta_pct = level.limit_pct;
  for (const ControlledFigure& process : usable_of(processes)) {
    row.candidate_figures_us.push_back(process.kernel.time_us);
    row.base_figures_us.push_back(process.control.time_us);
  }
  row.pairs = static_cast<int>(row.candidate_figures_us.size());
  if (row.pairs > 0) row.candidate_us = stats::median(row.candidate_figures_us);
}

/// As far as both codes are known.
bool is_control_changed(const BaselineKernel& kernel, const StoredMeasurement& measured) {
  const std::string &before = kernel.control.code_hash, &now = measured.control_code_hash;
  return !before.empty() && !now.empty() && before != now;
}

std::vector<ControlledFigure> both_rounds(const StoredMeasurement& measured) {
  std::vector<ControlledFigure> all = measured.processes;
  all.insert(all.end(), measured.fresh.begin(), measured.fresh.end());
  return all;
}

/// `measured` as it is judged, `timed` as it was timed.
Row judge_kernel(const KernelHistory& history, const StoredMeasurement& measured, const StoredMeasurement& timed,
                 const StoredRules& rules) {
  const auto& [kernel, level] = history;
  Row row = named_row(kernel, measured);
  fill_figures(row, level, both_rounds(timed));
  if (!measured.missing.empty()) {
    row.reason = measured.missing;
    row.candidate_variant.clear();
    return row;
  }
  if (measured.failure) {
    const bool refused = measured.failure->outcome == model::Outcome::kRejected;
    row.verdict = refused ? Verdict::kNoData : Verdict::kWrong;
    row.reason = fmt::format("{}: {}", model::name_of(measured.failure->outcome), measured.failure->reason);
    return row;
  }
  if (measured.processes.empty()) {
    row.reason = "it was not timed";
    return row;
  }
  for (const auto* round : {&measured.processes, &measured.fresh}) {
    if (round->empty() || disturbed(*round).empty()) continue;
    row.verdict = Verdict::kInconclusive;
    row.reason = disturbed(*round);
    return row;
  }
  const Shift shift = shift_of(both_rounds(measured), level, rules);
  row.shift_pct = percent_of(shift.value);
  row.low_pct = percent_of(shift.low);
  row.high_pct = percent_of(shift.high);
  row.visible_pct = row.delta_pct + (row.high_pct - row.shift_pct);
  row.verdict = decide(measured, shift, level, rules);
  row.confirmed = row.verdict == Verdict::kRegressed || row.verdict == Verdict::kImproved;
  if (row.verdict == Verdict::kInconclusive) row.reason = inconclusive_reason(row, measured);
  if (row.verdict == Verdict::kRegressed) row.reason = code_reason(kernel, measured);
  return row;
}

}  // namespace

std::vector<StoredMeasurement> referenced(std::span<const KernelHistory> kernels,
                                          std::span<const StoredMeasurement> measured) {
  std::vector<double> moved;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto& [kernel, level] = kernels[i];
    if (is_own_control(kernel) || is_control_changed(kernel, measured[i])) continue;
    std::vector<double> controls;
    for (const ControlledFigure& process : usable_of(measured[i].processes))
      controls.push_back(process.control.time_us);
    if (!controls.empty()) moved.push_back(std::log(stats::median(controls) / level.control_us));
  }
  const double factor = moved.empty() ? 1.0 : std::exp(stats::median(moved));
  std::vector<StoredMeasurement> judged(measured.begin(), measured.end());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!is_own_control(kernels[i].kernel)) continue;
    const double time_us = kernels[i].level.kernel_us * factor;
    for (auto* round : {&judged[i].processes, &judged[i].fresh})
      for (ControlledFigure& process : *round) process.control.time_us = time_us;
  }
  return judged;
}

std::optional<HistoryEntry> entry_of(std::span<const ControlledFigure> processes, const std::string& date,
                                     const std::string& commit) {
  if (!disturbed(processes).empty()) return std::nullopt;
  const std::vector<ControlledFigure> kept = usable_of(processes);
  const std::vector<double> ratios = log_ratios(kept);
  std::vector<double> kernels, controls;
  for (const ControlledFigure& process : kept) {
    kernels.push_back(process.kernel.time_us);
    controls.push_back(process.control.time_us);
  }
  HistoryEntry entry;
  entry.date = date;
  entry.commit = commit;
  entry.ratio = std::exp(stats::hodges_lehmann(ratios));
  entry.kernel_us = stats::median(kernels);
  entry.control_us = stats::median(controls);
  entry.process_sd_pct = 100.0 * stats::standard_deviation(ratios);
  entry.processes = static_cast<int>(kept.size());
  return entry;
}

bool needs_fresh(const KernelHistory& kernel, const StoredMeasurement& measured, const StoredRules& rules) {
  if (!measured.missing.empty() || measured.failure || measured.processes.empty()) return false;
  if (!disturbed(measured.processes).empty()) return false;
  const Shift shift = shift_of(measured.processes, kernel.level, rules);
  return shift.high >= log_of_percent(kernel.level.limit_pct) || faster(shift, kernel.level);
}

std::vector<Row> judge_stored(std::span<const KernelHistory> kernels, std::span<const StoredMeasurement> measured,
                              const StoredRules& rules, std::vector<std::string>& notes) {
  const std::vector<StoredMeasurement> judged = referenced(kernels, measured);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    rows.push_back(judge_kernel(kernels[i], judged[i], measured[i], rules));
  find_environment(kernels, rows, notes);
  std::vector<std::string> changed;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const BaselineKernel& kernel = kernels[i].kernel;
    if (!is_control_changed(kernel, measured[i])) continue;
    const Control& control = kernel.control;
    const std::string name = fmt::format("{} {}", control.problem.op, control.problem.text());
    if (std::find(changed.begin(), changed.end(), name) == changed.end()) changed.push_back(name);
  }
  if (!changed.empty()) notes.push_back("the control's machine code is not the baseline's: " + join(changed, ", "));
  return rows;
}

}  // namespace ktune::verdict
