#include "verdict/environment.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "stats/stats.h"

namespace ktune::verdict {

namespace {

constexpr std::size_t kFewestKernels = 4;
constexpr double kMost = 0.7;

double log_of_percent(double pct) { return std::log1p(pct / 100.0); }

/// How far one kernel moved, as a logarithm.
struct Move {
  std::size_t row = 0;
  double shift = 0.0;
  double slack = 0.0;  ///< half of its interval
  double limit = 0.0;
};

/// The common factor, where most moved alike by as much as most limits; else 0, and where there are none.
double common_shift(std::span<const Move> moves) {
  if (moves.empty()) return 0.0;
  std::vector<double> shifts, limits;
  for (const Move& move : moves) {
    shifts.push_back(move.shift);
    limits.push_back(move.limit);
  }
  const double common = stats::median(shifts);
  if (std::abs(common) < stats::median(limits)) return 0.0;
  std::size_t alike = 0;
  for (const Move& move : moves) {
    const double room = std::max(std::abs(common) / 2.0, move.slack);
    if (move.shift * common > 0.0 && std::abs(move.shift - common) <= room) ++alike;
  }
  return static_cast<double>(alike) > kMost * static_cast<double>(moves.size()) ? common : 0.0;
}

/// What `of` says each timed row moved by; empty where there are too few to tell.
template <typename Of>
std::vector<Move> moves_of(std::span<const KernelHistory> kernels, const std::vector<Row>& rows, const Of& of) {
  std::vector<Move> moves;
  std::set<std::string> ops, ops_here;
  for (const KernelHistory& history : kernels) ops.insert(history.kernel.op);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (std::isnan(rows[i].shift_pct)) continue;
    const double slack = (log_of_percent(rows[i].high_pct) - log_of_percent(rows[i].low_pct)) / 2.0;
    moves.push_back({i, of(i), slack, log_of_percent(rows[i].delta_pct)});
    ops_here.insert(rows[i].op);
  }
  if (moves.size() < kFewestKernels || ops_here.size() < std::min<std::size_t>(2, ops.size())) moves.clear();
  return moves;
}

/// A kernel that stood still while its control moved did not get slower or faster, and its level must not follow.
void find_moved_controls(std::span<const KernelHistory> kernels, std::vector<Row>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Row& row = rows[i];
    if ((row.verdict != Verdict::kRegressed && row.verdict != Verdict::kImproved) || is_own_control(kernels[i].kernel))
      continue;
    const Level& level = kernels[i].level;
    const double itself = std::log(row.candidate_us / level.kernel_us);
    if (std::abs(itself) >= std::abs(log_of_percent(row.shift_pct)) / 2.0) continue;
    row.verdict = Verdict::kEnvironment;
    row.reason =
        fmt::format("its control moved by {:+.1f} %, it did not ({:+.1f} %): the machine changed, or the control did",
                    100.0 * (stats::median(row.base_figures_us) / level.control_us - 1.0), 100.0 * std::expm1(itself));
  }
}

}  // namespace

void find_environment(std::span<const KernelHistory> kernels, std::vector<Row>& rows, std::vector<std::string>& notes) {
  const auto moves = moves_of(kernels, rows, [&](std::size_t i) { return log_of_percent(rows[i].shift_pct); });
  const double common = common_shift(moves);
  if (common != 0.0) {
    const std::string pct = fmt::format("{:+.1f} %", 100.0 * std::expm1(common));
    for (const Move& move : moves) {
      Row& row = rows[move.row];
      if (row.verdict == Verdict::kRegressed && move.shift - common >= move.limit) continue;
      row.verdict = Verdict::kEnvironment;
      row.reason = fmt::format("most kernels moved by about {} against their controls", pct);
    }
    notes.push_back(
        fmt::format("most kernels moved by about {} against their controls: the machine changed, or the control did; "
                    "`ktune gate --base REF --new REF` compares two versions on this machine as it is now",
                    pct));
    return;
  }
  const auto absolute = moves_of(kernels, rows, [&](std::size_t i) {
    return std::log(stats::median(rows[i].base_figures_us) / kernels[i].level.control_us);
  });
  const double moved = common_shift(absolute);
  if (moved == 0.0) {
    find_moved_controls(kernels, rows);
  } else {
    notes.push_back(
        fmt::format("times moved by about {:+.1f} %, the controls' too: clocks, power or temperature differ from the "
                    "baseline's; the ratios do not, so the verdicts stand",
                    100.0 * std::expm1(moved)));
  }
}

}  // namespace ktune::verdict
