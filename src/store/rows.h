#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <unordered_map>

#include "base/error.h"
#include "model/json.h"
#include "model/record.h"
#include "store/schema.h"

// Records to and from rows. The columns of a struct are its fields in their order (model/fields.h): the same walk names
// them for SQL, binds them and reads them.

namespace ktune::store {

/// "t.op, t.reason, …": the walk that names columns. A column that the database's schema lacks is its default, as a
/// literal.
class ColumnNames {
 public:
  explicit ColumnNames(std::string prefix = {}, int schema = kNewestSchema)
      : prefix_(std::move(prefix)), schema_(schema) {}

  void operator()(const char* name, const auto& value, model::FieldRule rule = {}) {
    text_ += (text_.empty() ? "" : ", ") + (rule.since <= schema_ ? prefix_ + name : literal(model::Json(value)));
  }
  const std::string& text() const { return text_; }

 private:
  static std::string literal(const model::Json& value) {
    if (value.is_number()) return value.dump();
    return "'" + (value.is_string() ? value.get<std::string>() : value.dump()) + "'";
  }

  std::string prefix_;
  int schema_;
  std::string text_;
};

/// The columns of a struct's fields.
template <typename T>
std::string columns_of(const std::string& prefix = {}, int schema = kNewestSchema) {
  ColumnNames names(prefix, schema);
  const T defaults;
  T::fields(defaults, names);
  return names.text();
}

/// What a table holds of a record beside ids and uid, in the order in which the functions below bind and read it.
/// `prefix` is "" or that of the selection below.
std::string session_columns(const std::string& prefix = {});
std::string problem_columns(const std::string& prefix = {}, int schema = kNewestSchema);
std::string trial_columns(const std::string& prefix = {}, int schema = kNewestSchema);
/// Last in a trial, read only when samples are asked for.
std::string sample_columns(const std::string& prefix = {});
/// What to select for the read functions below: ids and columns of `session s`, `problem p`, `trial t`. `schema` is the
/// database's version: what it has no column for is read as its default.
std::string session_selection();
std::string problem_selection(int schema);
std::string trial_selection(int schema, bool with_samples = false);
/// Whether a trial `t` failed by the machine's doing; a database of before knows it by the reason's words only.
std::string_view transient_column(int schema);

/// "INSERT INTO table(uid, columns) VALUES (…)" with a random uid and a ? for each column.
std::string insert_into(const std::string& table, const std::string& columns);
/// "UPDATE table SET column = ?, … WHERE id = ?"
std::string update_of(const std::string& table, const std::string& columns);

/// Binds values to a statement's parameters from left to right, after a reset; the walk that binds fields. Texts must
/// live until it is executed.
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

  template <typename T>
  void operator()(const char*, const T& value, model::FieldRule = {}) {
    if constexpr (std::is_same_v<T, std::string>) {
      text(value);
    } else if constexpr (std::is_same_v<T, double>) {
      real(value);
    } else if constexpr (std::is_integral_v<T>) {
      integer(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_enum_v<T>) {
      text_or_null(name_of(value));
    } else {
      json(value);
    }
  }

 private:
  SQLite::Statement& statement_;
  int at_ = 1;
};

/// Reads the columns of the current row from left to right; the walk that reads fields: a null keeps what the value
/// had.
class RowReader {
 public:
  explicit RowReader(SQLite::Statement& statement) : statement_(statement) {}
  std::string text();
  std::int64_t integer();
  bool flag() { return integer() != 0; }
  SQLite::Column column() { return statement_.getColumn(at_++); }
  void skip() { ++at_; }

  /// "{}" and "[]" are most of what is stored: they need no parser.
  template <typename T>
  T json() {
    const SQLite::Column text = column();
    const int size = text.getBytes();
    if (size <= 2) return T{};
    const char* start = text.getText("");
    return model::Json::parse(start, start + size).template get<T>();
  }

  /// Throws Error(kEnvironment) for a name that is none of its enumeration's.
  template <typename T>
  void operator()(const char* name, T& value, model::FieldRule = {}) {
    if (statement_.isColumnNull(at_)) return skip();
    if constexpr (std::is_same_v<T, std::string>) {
      value = text();
    } else if constexpr (std::is_same_v<T, double>) {
      value = column().getDouble();
    } else if constexpr (std::is_same_v<T, bool>) {
      value = flag();
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(integer());
    } else if constexpr (std::is_enum_v<T>) {
      const std::string text_of_it = text();
      const auto parsed = parse_as(value, text_of_it);
      if (!parsed) throw_unknown(name, text_of_it);
      value = *parsed;
    } else {
      value = json<T>();
    }
  }

 private:
  [[noreturn]] static void throw_unknown(const std::string& column, const std::string& name);

  SQLite::Statement& statement_;
  int at_ = 0;
};

/// The row's struct, when its fields are all that was selected.
template <typename T>
T read_row(SQLite::Statement& statement) {
  T value;
  T::fields(value, RowReader(statement));
  return value;
}

void write_session(RowWriter row, const model::SessionRecord& session);
/// After session_id.
void write_problem(RowWriter row, const model::ProblemRecord& problem);
/// After session_id and problem_id.
void write_trial(RowWriter row, const model::TrialRecord& trial);

/// Variants recur in every problem of an op: each distinct text is parsed once.
using VariantCache = std::unordered_map<std::string, model::Variant>;

/// Each of the selection above.
model::SessionRecord read_session(SQLite::Statement& statement);
model::ProblemRecord read_problem(SQLite::Statement& statement);
model::TrialRecord read_trial(SQLite::Statement& statement, bool with_samples, VariantCache& variants);

}  // namespace ktune::store
