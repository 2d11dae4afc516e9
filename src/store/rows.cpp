#include "store/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ktune::store {

using model::Json;

std::string session_columns(const std::string& prefix) {
  return fmt::format("{0}, {1}device_kind, {1}device_name", columns_of<model::SessionRecord>(prefix), prefix);
}

std::string problem_columns(const std::string& prefix, int schema) {
  return fmt::format("{0}, {1}text, {1}dtype", columns_of<model::ProblemRecord>(prefix, schema), prefix);
}

std::string_view transient_column(int schema) {
  return schema >= kSchemaWithSources ? "t.transient"
                                      : "(t.reason LIKE '%crashed%' OR t.reason LIKE '%memory%to be had%')";
}

std::string trial_columns(const std::string& prefix, int schema) {
  return fmt::format("{0}, {1}variant, {1}timer, {2}, {3}, {1}variant_text",
                     columns_of<model::TrialRecord>(prefix, schema), prefix, columns_of<model::TimingSummary>(prefix),
                     prefix.empty() ? "transient" : transient_column(schema));
}

std::string sample_columns(const std::string& prefix) { return fmt::format(", {0}samples, {0}detail", prefix); }

std::string session_selection() { return "s.id, " + session_columns("s."); }

std::string problem_selection(int schema) { return "p.id, p.session_id, " + problem_columns("p.", schema); }

std::string trial_selection(int schema, bool with_samples) {
  return "t.id, t.session_id, t.problem_id, " + trial_columns("t.", schema) +
         (with_samples ? sample_columns("t.") : "");
}

std::string insert_into(const std::string& table, const std::string& columns) {
  std::string marks;
  for (auto comma = std::count(columns.begin(), columns.end(), ','); comma >= 0; --comma) marks += ", ?";
  return fmt::format("INSERT INTO {}(uid, {}) VALUES (randomblob(16){})", table, columns, marks);
}

std::string update_of(const std::string& table, const std::string& columns) {
  std::string assignments;
  for (const char c : columns) assignments += c == ',' ? " = ?," : std::string(1, c);
  return fmt::format("UPDATE {} SET {} = ? WHERE id = ?", table, assignments);
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

std::int64_t RowReader::integer() { return statement_.getColumn(at_++).getInt64(); }

void RowReader::throw_unknown(const std::string& column, const std::string& name) {
  std::string words = column;
  std::replace(words.begin(), words.end(), '_', ' ');
  throw Error(ErrorKind::kEnvironment, fmt::format("a row names an unknown {}: {}", words, name));
}

void write_session(RowWriter row, const model::SessionRecord& session) {
  model::SessionRecord::fields(session, row);
  row.text(session.device.kind).text(session.device.name);
}

void write_problem(RowWriter row, const model::ProblemRecord& problem) {
  row.integer(problem.session);
  model::ProblemRecord::fields(problem, row);
  row.text_or_null(problem.problem.text()).text_or_null(problem.problem.dtype());
}

void write_trial(RowWriter row, const model::TrialRecord& trial) {
  row.integer(trial.session).integer(trial.problem);
  model::TrialRecord::fields(trial, row);
  row.json(trial.variant);
  if (trial.timing.n > 0) {
    row.text_or_null(name_of(trial.samples.timer));
    model::TimingSummary::fields(trial.timing, row);
  } else {
    row.null();
    model::TimingSummary::fields(trial.timing, [&](const char*, const auto&) { row.null(); });
  }
  row.integer(trial.transient ? 1 : 0)
      .copied_text(trial.variant.text())
      .blob(trial.samples.time_us.data(), trial.samples.time_us.size() * sizeof(double))
      .text(trial.detail);
}

namespace {

std::vector<double> read_samples(RowReader& row) {
  const SQLite::Column column = row.column();
  const auto bytes = static_cast<std::size_t>(column.getBytes());
  if (bytes % sizeof(double) != 0) throw Error(ErrorKind::kEnvironment, "a trial's samples are cut short");
  std::vector<double> samples(bytes / sizeof(double));
  if (bytes > 0) std::memcpy(samples.data(), column.getBlob(), bytes);
  return samples;
}

const model::Variant& cached_variant(const std::string& text, VariantCache& variants) {
  const auto at = variants.find(text);
  if (at != variants.end()) return at->second;
  return variants.emplace(text, Json::parse(text).get<model::Variant>()).first->second;
}

}  // namespace

model::SessionRecord read_session(SQLite::Statement& statement) {
  RowReader row(statement);
  model::SessionRecord session;
  session.id = row.integer();
  model::SessionRecord::fields(session, row);
  return session;
}

model::ProblemRecord read_problem(SQLite::Statement& statement) {
  RowReader row(statement);
  model::ProblemRecord problem;
  problem.id = row.integer();
  problem.session = row.integer();
  model::ProblemRecord::fields(problem, row);
  return problem;
}

model::TrialRecord read_trial(SQLite::Statement& statement, bool with_samples, VariantCache& variants) {
  RowReader row(statement);
  model::TrialRecord trial;
  trial.id = row.integer();
  trial.session = row.integer();
  trial.problem = row.integer();
  trial.verify_margin = std::numeric_limits<double>::quiet_NaN();  // what a null says
  model::TrialRecord::fields(trial, row);
  trial.variant = cached_variant(row.text(), variants);
  row("timer", trial.samples.timer);
  model::TimingSummary::fields(trial.timing, row);
  trial.transient = row.flag();
  if (!with_samples) return trial;
  row.skip();  // the variant's text
  trial.samples.time_us = read_samples(row);
  trial.detail = row.text();
  return trial;
}

}  // namespace ktune::store
