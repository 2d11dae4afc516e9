#pragma once

#include <string>
#include <vector>

#include "base/format.h"
#include "model/record.h"
#include "report/report.h"
#include "store/store.h"
#include "sweep/sweep.h"

// What `ktune sweep` says besides its report.

namespace ktune::cli {

/// Device, database and how much there is to do, on stderr.
void print_start(const model::DeviceFacts& facts, const std::string& device, const std::string& db,
                 const std::vector<sweep::SharedProblem>& prepared);

/// The table of --dry-run, without rows.
Table plan_table();
void add_plan_row(Table& table, const sweep::PreparedProblem& problem, std::int64_t reusable);

/// Counts of rejected points by reason, on stderr.
void print_rejections(const sweep::PreparedProblem& problem);

/// The report of one session alone, against the ceilings the database knows.
report::Report session_report(store::Store& store, std::int64_t session);

/// What the ceilings of any report are read from.
store::Filter ceiling_filter();

/// What a sweep ends with: its report and, with --per-key, one variant for all problems of a key.
struct Tuned {
  report::Report report;
  std::vector<sweep::KeyChoice> choices;
};
/// Formats of --per-key: the choices are one more section. CSV, which holds one table, holds the choices; JSON (schema
/// ktune.sweep/1) holds both, each under its own schema.
const std::vector<Format<Tuned>>& per_key_formats();

/// Trials, pace, database, on stderr.
void print_summary(const sweep::Summary& summary, const std::string& db);

}  // namespace ktune::cli
