#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <string>
#include <unordered_map>

#include "model/json.h"
#include "model/record.h"

// Records to and from rows. The column lists below and the functions that walk them stand in one order.

namespace ktune::store {

inline constexpr const char* kSessionColumns =
    "s.id, s.date, s.command, s.version, s.commit_hash, s.device, s.complete";
/// `schema` is the database's version: what it has no column for is read as its default.
std::string problem_columns(int schema);
std::string trial_columns(int schema);
/// Whether a trial `t` failed by the machine's doing; a database of before knows it by the reason's words only.
std::string_view transient_column(int schema);
inline constexpr const char* kFirstProblemColumns =
    "p.id, p.session_id, p.op, p.problem, p.default_variant, p.cost, p.spec_hash, p.source_hash, p.enumerated, "
    "p.rejected, p.not_visited, p.reused";
inline constexpr const char* kFirstTrialColumns =
    "t.id, t.session_id, t.problem_id, t.op, t.problem_text, t.variant, t.is_default, t.is_final, t.outcome, t.reason, "
    "t.date, t.timer, t.cache_state, t.n, t.time_us, t.mean_us, t.min_us, t.p10_us, t.p90_us, t.ci_low_us, "
    "t.ci_high_us, t.ci_level, t.compile_ms, t.verify_margin, t.seed, t.fingerprint, t.fingerprint_parts, "
    "t.binary_key, t.resources, t.state_before, t.state_after, t.warnings";
/// Read after trial_columns when samples are asked for.
inline constexpr const char* kSampleColumns = ", t.samples, t.detail";

inline constexpr const char* kFitColumns =
    "device, driver, power_limit_w, read_fraction, cache_state, timer, launches, t0_us, gbps, ceiling_gbps, "
    "worst_residual_pct, points, date, commit_hash";

/// Binds values to a statement's parameters from left to right, after a reset. Texts must live until it is executed.
class RowWriter {
 public:
  explicit RowWriter(SQLite::Statement& statement);
  RowWriter& text(const std::string& value);
  RowWriter& copied_text(const std::string& value);
  RowWriter& text_or_null(std::string_view value);  ///< "" is null; copied
  RowWriter& json(const model::Json& value);        ///< copied
  RowWriter& integer(std::int64_t value);
  RowWriter& real(double value);  ///< NaN becomes null
  RowWriter& blob(const void* bytes, std::size_t size);
  RowWriter& null();

 private:
  SQLite::Statement& statement_;
  int at_ = 1;
};

/// Reads the columns of the current row from left to right.
class RowReader {
 public:
  explicit RowReader(SQLite::Statement& statement) : statement_(statement) {}
  std::string text();
  model::Json json();
  std::int64_t integer();
  /// Null is `otherwise`.
  double real(double otherwise);
  bool flag() { return integer() != 0; }
  bool next_is_null() { return statement_.isColumnNull(at_); }
  void skip() { ++at_; }
  SQLite::Column column() { return statement_.getColumn(at_++); }

 private:
  SQLite::Statement& statement_;
  int at_ = 0;
};

void write_session(RowWriter row, const model::SessionRecord& session);
void write_problem(RowWriter row, const model::ProblemRecord& problem);
/// What update_problem changes, then its id.
void write_problem_outcome(RowWriter row, const model::ProblemRecord& problem);
void write_trial(RowWriter row, const model::TrialRecord& trial);
void write_fit(RowWriter row, const model::FitRecord& fit);

/// Variants recur in every problem of an op: each distinct text is parsed once.
using VariantCache = std::unordered_map<std::string, model::Variant>;

model::SessionRecord read_session(SQLite::Statement& statement);
model::ProblemRecord read_problem(SQLite::Statement& statement);
/// After kFitColumns.
model::FitRecord read_fit(SQLite::Statement& statement);
model::TrialRecord read_trial(SQLite::Statement& statement, bool with_samples, VariantCache& variants);

}  // namespace ktune::store
