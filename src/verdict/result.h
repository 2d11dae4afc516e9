#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/facts.h"

// What every mode of the gate ends with and every format prints.

namespace ktune::verdict {

enum class Verdict : std::uint8_t {
  kPass,          ///< the shift's interval ends below delta: no evidence is not enough
  kRegressed,     ///< slower by delta or more, and once more in fresh processes
  kImproved,      ///< faster, in the same way
  kInconclusive,  ///< the interval reaches delta, or something disturbed the measurement
  kWrong,         ///< the candidate does not verify (or compile, or run)
  kEnvironment,   ///< stored mode: everything moved alike, the machine changed
  kNoData,        ///< nothing to compare: a kernel that disappeared, no figures
};
std::string_view name_of(Verdict verdict);  ///< "PASS", "REGRESSED", …, "NO DATA"
std::optional<Verdict> parse_as(Verdict, std::string_view name);

enum class Mode : std::uint8_t { kPaired, kStored, kSelf, kStatic };
std::string_view name_of(Mode mode);  ///< "paired", "stored", "aa", "static"
std::optional<Mode> parse_as(Mode, std::string_view name);

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// A figure of the machine code that both versions have, as text: "registers", "40", "44".
struct Change {
  std::string what, base, candidate;
  friend bool operator==(const Change&, const Change&) = default;
  static void fields(auto& self, auto&& field) {
    field("what", self.what);
    field("base", self.base);
    field("candidate", self.candidate);
  }
};

/// One kernel's line. A figure that is NaN is absent: null in JSON, a dash in tables.
struct Row {
  std::string op;
  std::string problem;
  std::string base_variant, candidate_variant;  ///< Variant::text()
  std::string source;                           ///< the candidate's kernel file, for annotations
  std::string tree_commit;                      ///< stored mode: of the tree that the kernel was compiled from
  std::string timer, cache_state;
  std::string target;  ///< static mode: the architecture it was compiled for, "sm_90"
  Verdict verdict = Verdict::kNoData;
  std::string reason;  ///< one line; never empty unless the verdict is PASS, REGRESSED or IMPROVED by its figures
  bool blocks = true;  ///< NO DATA of a kernel that base does not have yet stands in nobody's way
  /// Paired: the median of base's figures, and that moved by shift_pct. The candidate's own median may lie on the other
  /// side of base's than the shift, which is of pairs: two columns that contradict the third would explain nothing.
  /// Stored: medians of the times themselves; the shift is of their ratio to the control's and may have the other sign.
  double base_us = kNone, candidate_us = kNone;
  double shift_pct = kNone;                  ///< Hodges-Lehmann, candidate over base
  double low_pct = kNone, high_pct = kNone;  ///< its interval
  double p_slower = kNone;                   ///< exact signed-rank, one-sided, first round
  double delta_pct = kNone;                  ///< what was asked of this kernel: max(δ %, δ µs)
  double visible_pct = kNone;  ///< the least shift that this machine's noise lets the gate call; ≥ delta_pct
  int pairs = 0;               ///< of processes, both rounds
  bool confirmed = false;      ///< a second round of fresh processes agreed
  bool identical = false;      ///< same machine code: not timed
  std::vector<double> base_figures_us, candidate_figures_us;  ///< one a process, in order; stored: base is the control
  std::vector<Change> changes;                                ///< static mode: the figures that differ

  static void fields(auto& self, auto&& field) {
    field("op", self.op);
    field("problem", self.problem);
    field("verdict", self.verdict);
    field("reason", self.reason);
    field("blocks", self.blocks);
    field("base_variant", self.base_variant);
    field("candidate_variant", self.candidate_variant);
    field("source", self.source);
    field("tree_commit", self.tree_commit, {.may_miss = true});
    field("timer", self.timer);
    field("cache_state", self.cache_state);
    field("target", self.target);
    field("base_us", self.base_us);
    field("candidate_us", self.candidate_us);
    field("shift_pct", self.shift_pct);
    field("low_pct", self.low_pct);
    field("high_pct", self.high_pct);
    field("p_slower", self.p_slower);
    field("delta_pct", self.delta_pct);
    field("visible_pct", self.visible_pct);
    field("pairs", self.pairs);
    field("confirmed", self.confirmed);
    field("identical", self.identical);
    field("base_figures_us", self.base_figures_us);
    field("candidate_figures_us", self.candidate_figures_us);
    field("changes", self.changes);
  }
};

struct Result {
  Mode mode = Mode::kPaired;
  std::string base, candidate;  ///< as named on the command line
  std::string base_commit, candidate_commit;
  std::string baseline_checksum;  ///< stored mode: the state of the baseline that it was judged against
  model::DeviceFacts device;
  std::string date, command, version, commit;  ///< commit: ktune's own
  double delta_pct = kNone, delta_us = kNone;
  int pairs = 0;  ///< asked for
  std::uint64_t seed = 0;
  double seconds = 0.0;
  bool pass_inconclusive = false;
  std::vector<Row> rows;
  std::vector<std::string> detail_columns;        ///< of a second table, where a mode has one: the first two are names
  std::vector<std::vector<std::string>> details;  ///< one cell a column
  std::vector<std::string> notes;                 ///< for a human, one line each
  Verdict verdict = Verdict::kNoData;

  /// Its rows aside: each has a line of its own. Older results lack a checksum and the commits of rows, which only
  /// `ktune baseline accept` needs: it refuses a run without.
  static void fields(auto& self, auto&& field) {
    field("verdict", self.verdict);
    field("mode", self.mode);
    field("base", self.base);
    field("candidate", self.candidate);
    field("base_commit", self.base_commit);
    field("candidate_commit", self.candidate_commit);
    field("baseline_checksum", self.baseline_checksum, {.may_miss = true});
    field("device", self.device);
    field("date", self.date);
    field("command", self.command);
    field("version", self.version);
    field("commit", self.commit);
    field("delta_pct", self.delta_pct);
    field("delta_us", self.delta_us);
    field("pairs", self.pairs);
    field("seed", self.seed);
    field("seconds", self.seconds);
    field("pass_inconclusive", self.pass_inconclusive);
    field("detail_columns", self.detail_columns);
    field("details", self.details);
    field("notes", self.notes);
  }
};

/// The verdict over all rows, worst first: WRONG, REGRESSED, ENVIRONMENT, NO DATA (of rows that block, or no rows, or
/// nothing but rows without data), INCONCLUSIVE, IMPROVED (only where a row improved and no other is worse), PASS.
Verdict overall(const std::vector<Row>& rows);
/// 0 for PASS and IMPROVED, 1 for REGRESSED and WRONG, and for INCONCLUSIVE unless it is let by, 3 for ENVIRONMENT, 4
/// for NO DATA.
int exit_code_of(Verdict verdict, bool pass_inconclusive);

}  // namespace ktune::verdict
