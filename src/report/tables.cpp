#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "report/metric.h"
#include "report/remarks.h"
#include "report/tables.h"
#include "report/winners.h"

// A variant of eight parameters is wider than a terminal, and most of it is the same in every row. So a table says what
// its rows share once, above, and its variant column holds only the values that differ, in the order the line above
// names them: 4096/8/ldg. Attributes of the problem are treated alike.

namespace ktune::report {

namespace {

using model::Json;
using Rows = std::vector<const Row*>;
using Values = std::vector<std::pair<std::string, model::Value>>;

/// What the rows of a table share and where they differ.
struct Common {
  std::vector<std::string> varying;  ///< parameters
  std::vector<std::string> fixed;    ///< "ROWS=1"
  std::set<std::string> fixed_attrs;
  std::vector<std::string> attr_texts;
};

std::string value_of(const Values& values, const std::string& name) {
  for (const auto& [key, value] : values)
    if (key == name) return value.text();
  return std::string(kMissing);
}

/// Names in the order of their first appearance, with the values they take.
std::vector<std::pair<std::string, std::set<std::string>>> values_taken(const std::vector<const Values*>& lists) {
  std::vector<std::pair<std::string, std::set<std::string>>> taken;
  for (const Values* values : lists)
    for (const auto& [name, value] : *values) {
      auto at = std::find_if(taken.begin(), taken.end(), [&](const auto& entry) { return entry.first == name; });
      if (at == taken.end()) at = taken.insert(taken.end(), {name, {}});
      at->second.insert(value.text());
    }
  return taken;
}

Common common_of(const Rows& rows) {
  Common common;
  std::vector<const Values*> variants, attrs;
  for (const Row* row : rows) {
    if (!row->variant.values.empty()) variants.push_back(&row->variant.values);
    attrs.push_back(&row->problem.attrs);
  }
  for (const auto& [name, values] : values_taken(variants)) {
    if (values.size() == 1)
      common.fixed.push_back(name + "=" + *values.begin());
    else
      common.varying.push_back(name);
  }
  for (const auto& [name, values] : values_taken(attrs)) {
    if (values.size() != 1) continue;
    common.fixed_attrs.insert(name);
    common.attr_texts.push_back(name + "=" + *values.begin());
  }
  return common;
}

std::string problem_cell(const Row& row, const Common& common) {
  model::Problem problem = row.problem;
  std::erase_if(problem.attrs, [&](const auto& attr) { return common.fixed_attrs.contains(attr.first); });
  return problem.text();
}

std::string variant_cell(const Row& row, const Common& common) {
  if (row.variant.values.empty()) return std::string(kMissing);
  std::vector<std::string> texts;
  for (const std::string& name : common.varying) texts.push_back(value_of(row.variant.values, name));
  return join(texts, "/");
}

std::string day_of(const std::string& date) { return date.substr(0, date.find('T')); }

std::string sessions_text(const Rows& rows) {
  std::set<std::int64_t> sessions;
  std::set<std::string> days;
  for (const Row* row : rows) {
    sessions.insert(row->session);
    if (!row->date.empty()) days.insert(day_of(row->date));
  }
  std::vector<std::string> numbers;
  for (const std::int64_t session : sessions) numbers.push_back(std::to_string(session));
  std::string text = fmt::format("{} {}", numbers.size() == 1 ? "session" : "sessions", join(numbers, ", "));
  if (!days.empty()) text += " of " + *days.begin();
  if (days.size() > 1) text += " to " + *days.rbegin();
  return text;
}

std::string title_of(const Row& row) {
  const std::string title = fmt::format("{} on {}", row.op, row.device);
  if (row.timer.empty()) return title + ", nothing measured";
  return title + fmt::format(", timer {}, {}", row.timer, cache_text(row));
}

std::vector<std::string> legend_of(const Rows& rows, const Common& common) {
  std::vector<std::string> legend{sessions_text(rows)};
  if (!common.attr_texts.empty()) legend.push_back("every problem: " + join(common.attr_texts, ", "));
  if (!common.varying.empty()) legend.push_back("variant: " + join(common.varying, "/"));
  if (!common.fixed.empty())
    legend.push_back((common.varying.empty() ? "variant: " : "every variant: ") + join(common.fixed, ", "));
  return legend;
}

bool is_shown(const Metric& metric, bool all) {
  return metric.shown == Shown::kBoth || metric.shown == (all ? Shown::kAll : Shown::kWinners);
}

/// Columns in which no row has a value are left out (no ceiling, nothing re-used).
bool says_anything(const Metric& metric, const Rows& rows) {
  if (metric.text == nullptr) return true;
  return std::any_of(rows.begin(), rows.end(), [&](const Row* row) {
    const std::string text = metric.text(*row);
    return text != kMissing && !text.empty();
  });
}

Table table_of(const Rows& rows, const Common& common, bool all) {
  Table table;
  std::vector<const Metric*> columns;
  for (const Metric& metric : metrics()) {
    const bool no_variants = metric.key == "variant" && common.varying.empty();
    if (!is_shown(metric, all) || no_variants || !says_anything(metric, rows)) continue;
    columns.push_back(&metric);
    table.columns.push_back({std::string(metric.title), metric.right, metric.priority});
  }
  for (const Row* row : rows) {
    std::vector<Cell> cells;
    for (const Metric* metric : columns) {
      if (metric->text != nullptr)
        cells.push_back(metric->text(*row));
      else
        cells.push_back(metric->key == "problem" ? problem_cell(*row, common) : variant_cell(*row, common));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<std::string> remarks_of(const Rows& rows, const Common& common) {
  std::vector<Remark> remarks;
  for (const Row* row : rows)
    for (const std::string& warning : row->warnings) remarks.push_back({warning, problem_cell(*row, common)});
  return grouped(remarks, rows.size());
}

std::string flattened(const Json& json) {
  if (json.is_null()) return "";
  if (json.is_string()) return json.get<std::string>();
  std::vector<std::string> parts;
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) parts.push_back(name + "=" + flattened(value));
    return join(parts, ",");
  }
  if (json.is_array()) {
    for (const auto& value : json) parts.push_back(flattened(value));
    return join(parts, "; ");
  }
  return json.dump();
}

/// A metric as CSV writes it, which JSON-like formats take as it is where it is a number.
Cell value_cell(const Json& json) {
  if (json.is_null()) return Cell::nothing();
  Cell cell(flattened(json));
  if (json.is_number()) cell.kind = Cell::Kind::kNumber;
  return cell;
}

/// Every column of every row, for programs.
Section records_section(const Report& report) {
  Section section;
  section.audience = Audience::kPrograms;
  for (const Metric& metric : metrics()) section.table.columns.push_back({std::string(metric.key)});
  for (const Row& row : report.rows) {
    auto& cells = section.table.rows.emplace_back();
    for (const Metric& metric : metrics()) cells.push_back(value_cell(metric.get(row)));
  }
  return section;
}

}  // namespace

Document document_of(const Report& report) {
  const auto group_of = [](const Row& row) { return std::tie(row.op, row.device, row.timer, row.cache_state); };
  Document document;
  document.schema = "ktune.report/1";
  document.title = "ktune report";
  document.notes = report.notes;
  for (std::size_t begin = 0; begin < report.rows.size();) {
    Rows rows;
    std::size_t end = begin;
    for (; end < report.rows.size() && group_of(report.rows[end]) == group_of(report.rows[begin]); ++end)
      rows.push_back(&report.rows[end]);
    const Common common = common_of(rows);
    Section section{title_of(report.rows[begin]),
                    legend_of(rows, common),
                    table_of(rows, common, report.all),
                    {},
                    Audience::kPeople};
    if (!report.all) section.remarks = remarks_of(rows, common);
    document.sections.push_back(std::move(section));
    begin = end;
  }
  document.sections.push_back(records_section(report));
  return document;
}

}  // namespace ktune::report
