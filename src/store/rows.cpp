#include "store/rows.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "store/schema.h"

namespace ktune::store {

using model::Json;

std::string problem_columns(int schema) {
  return std::string(kFirstProblemColumns) +
         (schema >= kSchemaWithWinners ? ", p.winner, p.tie_set, p.decided_timer" : ", '{}', '[]', ''");
}

std::string_view transient_column(int schema) {
  return schema >= kSchemaWithSources ? "t.transient"
                                      : "(t.reason LIKE '%crashed%' OR t.reason LIKE '%memory%to be had%')";
}

std::string trial_columns(int schema) {
  return std::string(kFirstTrialColumns) +
         (schema >= kSchemaWithWinners ? ", t.dram_read, t.dram_written, t.traffic_note, " : ", -1, -1, '', ") +
         std::string(transient_column(schema));
}

RowWriter::RowWriter(SQLite::Statement& statement) : statement_(statement) { statement_.reset(); }

RowWriter& RowWriter::text(const std::string& value) {
  statement_.bindNoCopy(at_++, value);
  return *this;
}

RowWriter& RowWriter::copied_text(const std::string& value) {
  statement_.bind(at_++, value);
  return *this;
}

RowWriter& RowWriter::text_or_null(std::string_view value) {
  if (value.empty()) return null();
  statement_.bind(at_++, std::string(value));
  return *this;
}

RowWriter& RowWriter::json(const Json& value) {
  // A log may hold any bytes: what is not UTF-8 is replaced, never refused.
  statement_.bind(at_++, value.dump(-1, ' ', false, Json::error_handler_t::replace));
  return *this;
}

RowWriter& RowWriter::integer(std::int64_t value) {
  statement_.bind(at_++, value);
  return *this;
}

RowWriter& RowWriter::real(double value) {
  if (std::isnan(value)) return null();
  statement_.bind(at_++, value);
  return *this;
}

RowWriter& RowWriter::blob(const void* bytes, std::size_t size) {
  // An empty vector has no address, and SQLite would make that a null.
  statement_.bindNoCopy(at_++, size == 0 ? "" : bytes, static_cast<int>(size));
  return *this;
}

RowWriter& RowWriter::null() {
  statement_.bind(at_++);
  return *this;
}

std::string RowReader::text() { return statement_.getColumn(at_++).getString(); }

Json RowReader::json() {
  const SQLite::Column column = statement_.getColumn(at_++);
  const char* text = column.getText("");
  return Json::parse(text, text + column.getBytes());
}

std::int64_t RowReader::integer() { return statement_.getColumn(at_++).getInt64(); }

double RowReader::real(double otherwise) {
  const SQLite::Column column = statement_.getColumn(at_++);
  return column.isNull() ? otherwise : column.getDouble();
}

void write_session(RowWriter row, const model::SessionRecord& session) {
  row.text(session.date)
      .text(session.command)
      .text(session.version)
      .text(session.commit)
      .text(session.device.kind)
      .text(session.device.name)
      .json(Json(session.device))
      .integer(session.complete ? 1 : 0);
}

namespace {

/// No winner is "{}", which is read without a parser.
Json winner_json(const model::Variant& winner) { return winner.values.empty() ? Json::object() : Json(winner); }

}  // namespace

void write_problem(RowWriter row, const model::ProblemRecord& problem) {
  row.integer(problem.session)
      .text(problem.op)
      .text_or_null(problem.problem.text())
      .text_or_null(problem.problem.dtype())
      .json(Json(problem.problem))
      .json(Json(problem.default_variant))
      .json(Json(problem.cost))
      .text(problem.spec_hash)
      .text(problem.source_hash)
      .integer(problem.enumerated)
      .json(Json(problem.rejected))
      .integer(problem.not_visited)
      .integer(problem.reused)
      .json(winner_json(problem.winner))
      .json(Json(problem.tie_set))
      .text(problem.timer);
}

void write_problem_outcome(RowWriter row, const model::ProblemRecord& problem) {
  row.integer(problem.enumerated)
      .json(Json(problem.rejected))
      .integer(problem.not_visited)
      .integer(problem.reused)
      .json(winner_json(problem.winner))
      .json(Json(problem.tie_set))
      .text(problem.timer)
      .integer(problem.id);
}

namespace {

void write_timing(RowWriter& row, const model::TrialRecord& trial) {
  const model::TimingSummary& timing = trial.timing;
  const bool timed = timing.n > 0;
  row.text_or_null(timed ? name_of(trial.samples.timer) : std::string_view());
  row.text_or_null(name_of(trial.samples.cache_state));
  if (!timed) {
    for (int i = 0; i < 9; ++i) row.null();
    return;
  }
  row.integer(timing.n)
      .real(timing.time_us)
      .real(timing.mean_us)
      .real(timing.min_us)
      .real(timing.p10_us)
      .real(timing.p90_us)
      .real(timing.ci_low_us)
      .real(timing.ci_high_us)
      .real(timing.ci_level);
}

model::Timer timer_of(const std::string& name) {
  const auto parsed = model::parse_timer(name);
  if (!parsed) throw Error(ErrorKind::kEnvironment, "a row names an unknown timer: " + name);
  return *parsed;
}

model::CacheState cache_state_of(const std::string& name) {
  const auto parsed = model::parse_cache_state(name);
  if (!parsed) throw Error(ErrorKind::kEnvironment, "a row names an unknown cache state: " + name);
  return *parsed;
}

void read_timing(RowReader& row, model::TrialRecord& trial) {
  if (const std::string timer = row.text(); !timer.empty()) trial.samples.timer = timer_of(timer);
  trial.samples.cache_state = cache_state_of(row.text());
  model::TimingSummary& timing = trial.timing;
  timing.n = static_cast<int>(row.integer());
  timing.time_us = row.real(0.0);
  timing.mean_us = row.real(0.0);
  timing.min_us = row.real(0.0);
  timing.p10_us = row.real(0.0);
  timing.p90_us = row.real(0.0);
  timing.ci_low_us = row.real(0.0);
  timing.ci_high_us = row.real(0.0);
  timing.ci_level = row.real(timing.ci_level);
}

std::vector<double> read_samples(RowReader& row) {
  const SQLite::Column column = row.column();
  const auto bytes = static_cast<std::size_t>(column.getBytes());
  if (bytes % sizeof(double) != 0) throw Error(ErrorKind::kEnvironment, "a trial's samples are cut short");
  std::vector<double> samples(bytes / sizeof(double));
  if (bytes > 0) std::memcpy(samples.data(), column.getBlob(), bytes);
  return samples;
}

/// "{}" and "[]" are most of what is stored: they need no parser.
template <typename T>
T read_json(RowReader& row) {
  const SQLite::Column column = row.column();
  const int size = column.getBytes();
  if (size <= 2) return T{};
  const char* text = column.getText("");
  return Json::parse(text, text + size).get<T>();
}

const model::Variant& cached_variant(const std::string& text, VariantCache& variants) {
  const auto at = variants.find(text);
  if (at != variants.end()) return at->second;
  return variants.emplace(text, Json::parse(text).get<model::Variant>()).first->second;
}

}  // namespace

void write_trial(RowWriter row, const model::TrialRecord& trial) {
  row.integer(trial.session)
      .integer(trial.problem)
      .text(trial.op)
      .text(trial.problem_text)
      .copied_text(trial.variant.text())
      .json(Json(trial.variant))
      .integer(trial.is_default ? 1 : 0)
      .integer(trial.is_final ? 1 : 0)
      .text_or_null(name_of(trial.outcome))
      .text(trial.reason)
      .text(trial.date);
  write_timing(row, trial);
  row.real(trial.compile_ms)
      .real(trial.verify_margin)
      .integer(static_cast<std::int64_t>(trial.seed))
      .text(trial.fingerprint)
      .json(Json(trial.fingerprint_parts))
      .text(trial.binary_key)
      .json(Json(trial.resources))
      .json(Json(trial.before))
      .json(Json(trial.after))
      .json(Json(trial.warnings))
      .blob(trial.samples.time_us.data(), trial.samples.time_us.size() * sizeof(double))
      .text(trial.detail)
      .integer(trial.traffic.dram_read)
      .integer(trial.traffic.dram_written)
      .text(trial.traffic.why_not)
      .integer(trial.transient ? 1 : 0);
}

void write_fit(RowWriter row, const model::FitRecord& fit) {
  row.text(fit.device)
      .text(fit.driver)
      .real(fit.power_limit_w)
      .real(fit.read_fraction)
      .text_or_null(name_of(fit.cache_state))
      .text_or_null(name_of(fit.timer))
      .integer(fit.launches)
      .real(fit.t0_us)
      .real(fit.gbps)
      .real(fit.ceiling_gbps)
      .real(fit.worst_residual_pct)
      .json(Json(fit.points))
      .text(fit.date)
      .text(fit.commit);
}

model::SessionRecord read_session(SQLite::Statement& statement) {
  RowReader row(statement);
  model::SessionRecord session;
  session.id = row.integer();
  session.date = row.text();
  session.command = row.text();
  session.version = row.text();
  session.commit = row.text();
  session.device = row.json().get<model::DeviceFacts>();
  session.complete = row.flag();
  return session;
}

model::ProblemRecord read_problem(SQLite::Statement& statement) {
  RowReader row(statement);
  model::ProblemRecord problem;
  problem.id = row.integer();
  problem.session = row.integer();
  problem.op = row.text();
  problem.problem = row.json().get<model::Problem>();
  problem.default_variant = row.json().get<model::Variant>();
  problem.cost = row.json().get<model::Cost>();
  problem.spec_hash = row.text();
  problem.source_hash = row.text();
  problem.enumerated = row.integer();
  problem.rejected = read_json<std::map<std::string, std::int64_t>>(row);
  problem.not_visited = row.integer();
  problem.reused = row.integer();
  problem.winner = read_json<model::Variant>(row);
  problem.tie_set = read_json<std::vector<model::Variant>>(row);
  problem.timer = row.text();
  return problem;
}

model::TrialRecord read_trial(SQLite::Statement& statement, bool with_samples, VariantCache& variants) {
  RowReader row(statement);
  model::TrialRecord trial;
  trial.id = row.integer();
  trial.session = row.integer();
  trial.problem = row.integer();
  trial.op = row.text();
  trial.problem_text = row.text();
  trial.variant = cached_variant(row.text(), variants);
  trial.is_default = row.flag();
  trial.is_final = row.flag();
  const std::string outcome = row.text();
  const auto parsed = model::parse_outcome(outcome);
  if (!parsed) throw Error(ErrorKind::kEnvironment, "a trial has an unknown outcome: " + outcome);
  trial.outcome = *parsed;
  trial.reason = row.text();
  trial.date = row.text();
  read_timing(row, trial);
  trial.compile_ms = row.real(0.0);
  trial.verify_margin = row.real(std::numeric_limits<double>::quiet_NaN());
  trial.seed = static_cast<std::uint64_t>(row.integer());
  trial.fingerprint = row.text();
  trial.fingerprint_parts = read_json<std::map<std::string, std::string>>(row);
  trial.binary_key = row.text();
  trial.resources = read_json<std::map<std::string, model::KernelResources>>(row);
  trial.before = read_json<model::MachineState>(row);
  trial.after = read_json<model::MachineState>(row);
  trial.warnings = read_json<std::vector<std::string>>(row);
  trial.traffic.dram_read = row.integer();
  trial.traffic.dram_written = row.integer();
  trial.traffic.why_not = row.text();
  trial.transient = row.flag();
  if (!with_samples) return trial;
  trial.samples.time_us = read_samples(row);
  trial.detail = row.text();
  return trial;
}

model::FitRecord read_fit(SQLite::Statement& statement) {
  RowReader row(statement);
  model::FitRecord fit;
  fit.device = row.text();
  fit.driver = row.text();
  fit.power_limit_w = row.real(0.0);
  fit.read_fraction = row.real(0.0);
  fit.cache_state = cache_state_of(row.text());
  fit.timer = timer_of(row.text());
  fit.launches = static_cast<int>(row.integer());
  fit.t0_us = row.real(0.0);
  fit.gbps = row.real(0.0);
  fit.ceiling_gbps = row.real(0.0);
  fit.worst_residual_pct = row.real(0.0);
  fit.points = read_json<std::vector<std::pair<std::int64_t, double>>>(row);
  fit.date = row.text();
  fit.commit = row.text();
  return fit;
}

}  // namespace ktune::store
