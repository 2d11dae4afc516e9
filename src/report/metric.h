#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/json.h"
#include "report/report.h"

namespace ktune::report {

enum class Better { kNeither, kLower, kHigher };

/// Which tables a column is in. JSON and CSV have every column.
enum class Shown { kNever, kWinners, kAll, kBoth };

/// A column of a report: one row here drives terminal, Markdown, HTML, CSV and JSON (both ways).
struct Metric {
  std::string_view key;    ///< in JSON and CSV
  std::string_view title;  ///< of the table's column
  std::string_view unit;   ///< of the value in JSON and CSV, "" for a number without or a text
  Better better;
  Shown shown;
  bool right;    ///< a number: right-aligned
  int priority;  ///< base::Table's: the highest is dropped first on a narrow terminal, 0 never
  model::Json (*get)(const Row& row);
  void (*set)(const model::Json& json, Row& row);  ///< the inverse; null leaves the row as it is
  /// The table's cell. Problem and variant are written by the table, which knows what all its rows share: null here.
  std::string (*text)(const Row& row);
  bool later = false;  ///< a report written before this column was there is read all the same
};

/// Every column, in the order of the JSON keys and of the tables.
std::span<const Metric> metrics();

/// "–": what a table shows for a missing value.
inline constexpr std::string_view kMissing = "–";

}  // namespace ktune::report
