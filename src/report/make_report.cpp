#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>

#include "base/text.h"
#include "report/ceiling.h"
#include "report/fits.h"
#include "report/report.h"
#include "report/winners.h"

namespace ktune::report {

namespace {

std::string group_text(const Row& row) {
  return fmt::format("{}{} ({}, {})", row.device, row.driver.empty() ? "" : ", driver " + row.driver, row.timer,
                     cache_text(row));
}

void note(std::string text, std::vector<std::string>& notes) {
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(std::move(text));
}

std::string measured_mixes(const Ceiling& ceiling) {
  std::vector<std::string> texts;
  for (const Mix& mix : ceiling.mixes())
    texts.push_back(fmt::format("{} ({:.0f} %)", mix.op, 100.0 * mix.read_fraction));
  return join(texts, ", ");
}

/// What the device gives at best to a row: of the stored fits, else of the trials of kCeilingOps. Nothing, and a note,
/// where neither knows.
std::optional<Limits> limits_of(const FittedCeilings& fits, const Ceilings& ceilings, const Row& row,
                                std::vector<std::string>& notes) {
  const double fraction = static_cast<double>(*row.bytes_read) / static_cast<double>(*row.bytes);
  if (auto fitted = fits.limits(row, fraction)) return fitted;
  const auto at = ceilings.find(ceiling_key(row));
  if (at == ceilings.end()) {
    note(fmt::format("no ceiling for {}: `ktune roofline` measures it", group_text(row)), notes);
    return std::nullopt;
  }
  const auto us_per_byte = at->second.us_per_byte(fraction);
  if (us_per_byte) return Limits{*us_per_byte, at->second.floor(fraction)};
  note(fmt::format("no ceiling for {} % reads on {}: measured are only {}", std::llround(100.0 * fraction),
                   group_text(row), measured_mixes(at->second)),
       notes);
  return std::nullopt;
}

/// Fills pct_ceiling, floor_us and pct_floor of a row with a time, and labels what its rate does not say.
void apply_ceiling(const FittedCeilings& fits, const Ceilings& ceilings, Row& row, std::vector<std::string>& notes) {
  if (!row.time_us || !row.bytes) return;
  const auto limits = limits_of(fits, ceilings, row, notes);
  if (!limits) return;
  const auto bytes = static_cast<double>(*row.bytes);
  row.pct_ceiling = 100.0 * limits->us_per_byte * bytes / *row.time_us;
  if (*row.pct_ceiling > kAbsorbedPct)
    row.warnings.push_back(
        fmt::format("L2-absorbed: above {:.0f} % of the ceiling, so part of the traffic stayed in L2", kAbsorbedPct));
  if (!limits->floor) return;
  row.floor_us = limits->floor->at(bytes);
  row.pct_floor = 100.0 * *row.floor_us / *row.time_us;
  if (*row.floor_us - limits->floor->t0_us < kLatencyFactor * limits->floor->t0_us)
    row.warnings.emplace_back("latency-bound: moving the bytes takes less than twice what a launch costs");
}

/// By group, dtype, sizes, and within a problem by time. A problem's text is made once a row: a sort would make it
/// again for each comparison.
void sort_rows(std::vector<Row>& rows) {
  std::vector<std::string> texts;
  std::vector<std::size_t> order(rows.size());
  for (const Row& row : rows) texts.push_back(row.problem.text());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    const Row &a = rows[i], &b = rows[j];
    const auto group_a = std::tie(a.op, a.device, a.timer, a.cache_state, a.problem.types, a.problem.dims, texts[i]);
    const auto group_b = std::tie(b.op, b.device, b.timer, b.cache_state, b.problem.types, b.problem.dims, texts[j]);
    if (group_a != group_b) return group_a < group_b;
    if (a.time_us && b.time_us && *a.time_us != *b.time_us) return *a.time_us < *b.time_us;
    if (a.time_us.has_value() != b.time_us.has_value()) return a.time_us.has_value();
    return std::tie(a.outcome, a.trial) < std::tie(b.outcome, b.trial);
  });
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (const std::size_t i : order) sorted.push_back(std::move(rows[i]));
  rows = std::move(sorted);
}

std::vector<Row> winners_of(const Indexed& index) {
  std::vector<Row> rows;
  for (const model::ProblemRecord* problem : index.newest()) rows.push_back(winner_row(index, *problem));
  return rows;
}

/// Every trial once: a re-used one under the session that measured it, if that is here.
std::vector<Row> every_trial(const Indexed& index) {
  std::set<std::int64_t> own;
  for (const model::ProblemRecord& problem : index.dataset().problems)
    for (const model::TrialRecord* trial : index.trials_of(problem))
      if (trial->session == problem.session) own.insert(trial->id);
  std::vector<Row> rows;
  std::set<std::int64_t> listed;
  for (const model::ProblemRecord& problem : index.dataset().problems) {
    const Row common = problem_row(index, problem);
    const model::DeviceFacts& device = index.session_of(problem).device;
    for (const model::TrialRecord* trial : index.trials_of(problem)) {
      if (trial->session != problem.session && own.contains(trial->id)) continue;
      if (listed.insert(trial->id).second) rows.push_back(trial_row(common, device, *trial));
    }
  }
  return rows;
}

}  // namespace

Report make_report(const model::Dataset& dataset, bool all, const model::Dataset& ceilings) {
  const Indexed index(dataset), ceiling_index(ceilings);
  std::vector<Row> winners = winners_of(index);
  // A problem that both datasets hold gives one point: the caller's own.
  std::vector<Row> points = winners;
  std::set<std::string> have;
  const auto point_key = [](const Row& row) { return ceiling_key(row) + '\n' + row.op + '\n' + row.problem.text(); };
  for (const Row& row : points) have.insert(point_key(row));
  for (Row& row : winners_of(ceiling_index))
    if (have.insert(point_key(row)).second) points.push_back(std::move(row));
  const Ceilings measured = ceilings_of(points);
  std::vector<model::FitRecord> fits = dataset.fits;
  fits.insert(fits.end(), ceilings.fits.begin(), ceilings.fits.end());
  const FittedCeilings fitted(fits);

  Report report;
  report.all = all;
  report.rows = all ? every_trial(index) : std::move(winners);
  sort_rows(report.rows);
  for (Row& row : report.rows) apply_ceiling(fitted, measured, row, report.notes);
  return report;
}

}  // namespace ktune::report
