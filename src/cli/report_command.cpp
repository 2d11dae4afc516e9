#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/sweep_print.h"
#include "report/report.h"
#include "store/store.h"

namespace ktune::cli {

namespace {

struct ReportOptions {
  std::string input;
  std::string db;
  store::Filter filter;
  bool all = false;
  std::vector<std::string> explain;
  Output output;
  std::string instead;  ///< --output, the old spelling: a file and nothing on stdout
};

bool contains_ignoring_case(const std::string& text, const std::string& part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

/// The filters, for a report that came as JSON.
bool keeps(const store::Filter& filter, const report::Row& row) {
  const auto among = [](const std::vector<std::string>& wanted, const std::string& value) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
  };
  return among(filter.ops, row.op) && among(filter.dtypes, row.problem.dtype()) &&
         (filter.device.empty() || contains_ignoring_case(row.device, filter.device)) &&
         (filter.since.empty() || row.date >= filter.since) && (!filter.session || *filter.session == row.session);
}

/// What the filters left nothing of, and which ones they were.
Error nothing_left(const ReportOptions& options, const std::string& where) {
  std::vector<std::string> active;
  for (const auto& op : options.filter.ops) active.push_back("--op " + op);
  for (const auto& dtype : options.filter.dtypes) active.push_back("--dtype " + dtype);
  if (!options.filter.device.empty()) active.push_back("--device " + options.filter.device);
  if (!options.filter.since.empty()) active.push_back("--since " + options.filter.since);
  if (options.filter.session) active.push_back(fmt::format("--session {}", *options.filter.session));
  if (active.empty())
    return Error(ErrorKind::kNoData, fmt::format("{} holds no trials", where), "run `ktune sweep --op NAME` first");
  return Error(ErrorKind::kNoData, fmt::format("nothing in {} passes {}", where, join(active, ", ")),
               "`ktune db list` shows what is there");
}

report::Report load_report(const ReportOptions& options, std::string& where) {
  if (!options.input.empty()) {
    where = options.input;
    report::Report report = report::parse_report(read_file(options.input), options.input);
    std::erase_if(report.rows, [&](const report::Row& row) { return !keeps(options.filter, row); });
    return report;
  }
  where = db_path(options.db);
  store::Store store(where, store::Store::Mode::kRead);
  const model::Dataset dataset = options.all ? store.load(options.filter) : store.load_latest(options.filter);
  return report::make_report(dataset, options.all, store.load_latest(ceiling_filter()));
}

int run_explain(const ReportOptions& options) {
  store::Store store(db_path(options.db), store::Store::Mode::kRead);
  store::Filter filter = options.filter;
  filter.ops = {options.explain[0]};
  const model::Dataset dataset = store.load(filter);
  if (dataset.problems.empty()) {
    ReportOptions asked = options;
    asked.filter = filter;
    throw nothing_left(asked, store.path());
  }
  deliver(options.output, document_formats(), report::explain(dataset, options.explain[0], options.explain[1]));
  return 0;
}

int run_report(const ReportOptions& options) {
  const std::string source = options.input.empty() ? db_path(options.db) : options.input;
  check_output(options.output, report::formats(), {source});
  if (!options.explain.empty()) return run_explain(options);
  std::string where;
  const report::Report report = load_report(options, where);
  if (report.rows.empty()) throw nothing_left(options, where);
  if (!options.instead.empty()) {
    std::error_code ignored;
    if (options.input.empty() && std::filesystem::equivalent(options.instead, where, ignored))
      throw Error(ErrorKind::kUsage, "--output names the database itself", "name another file");
    write_file(options.instead, find_format(report::formats(), options.output.format).print(report, 0, false));
    return 0;
  }
  deliver(options.output, report::formats(), report);
  return 0;
}

}  // namespace

std::function<int()> setup_report(CLI::App& app, const model::Provenance&) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("input", options->input, "A report's JSON to print again, instead of a database");
  add_db_option(app, options->db);
  app.add_option("--op", options->filter.ops, "Only this op (repeatable)");
  app.add_option("--dtype", options->filter.dtypes, "Only this dtype (repeatable)");
  app.add_option("--device", options->filter.device, "Only devices whose name or kind holds this text");
  app.add_option("--since", options->filter.since,
                 "Only sessions of this UTC date or later: 2026-11-29 or 2026-11-29T14:00:00Z");
  app.add_option("--session", options->filter.session, "Only this session");
  add_output(app, options->output, report::formats());
  app.add_option("--output", options->instead, "Write to this file instead of stdout")->group("");
  app.add_flag("--all", options->all, "Every trial, not only winners");
  app.add_option("--explain", options->explain, "OP PROBLEM: what failed or was rejected there, and why")->expected(2);
  return [options] { return run_report(*options); };
}

}  // namespace ktune::cli
