#include "cli/sweep_print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "cli/stderr_notices.h"
#include "report/tables.h"

namespace ktune::cli {

namespace {

std::int64_t rejected_of(const space::Space& space) {
  return std::accumulate(space.rejected().begin(), space.rejected().end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& entry) { return sum + entry.second; });
}

Document choices_document(const std::vector<sweep::KeyChoice>& choices) {
  Table table{{{"op"},
               {"key"},
               {"problems", true},
               {"mean regret", true, 0, "mean_regret_pct"},
               {"worst regret", true, 0, "worst_regret_pct"},
               {"on", false, 2, "worst_problem"},
               {"variant", false, 1}},
              {}};
  const auto percent = [](double value) { return Cell::number(value, fmt::format("{:.1f} %", value)); };
  for (const auto& choice : choices)
    table.rows.push_back({choice.op, choice.key, choice.problems, percent(choice.mean_regret_pct),
                          percent(choice.worst_regret_pct), choice.worst_problem, choice.variant.text()});
  Document document;
  document.schema = "ktune.keys/1";
  document.sections.push_back({"one variant for all problems of a key", {}, std::move(table), {}});
  return document;
}

Document document_of(const Tuned& tuned) {
  Document document = report::document_of(tuned.report);
  document.title = "ktune sweep";
  Section choices = std::move(choices_document(tuned.choices).sections.front());
  choices.key = document.csv_key = "keys";
  document.sections.push_back(std::move(choices));
  return document;
}

std::string print_tuned_term(const Tuned& tuned, int width, bool colour) {
  return find_format(report::formats(), "term").print(tuned.report, width, colour) + "\n" +
         print_term(choices_document(tuned.choices), width, colour);
}

std::string print_tuned_json(const Tuned& tuned, int, bool) {
  const std::string report = find_format(report::formats(), "json").print(tuned.report, 0, false);
  return "{\n\"schema\": \"ktune.sweep/1\",\n\"report\": " + report +
         ",\n\"keys\": " + print_json(choices_document(tuned.choices), 0, false) + "}\n";
}

}  // namespace

void print_start(const model::DeviceFacts& facts, const std::string& device, const std::string& db,
                 const std::vector<sweep::SharedProblem>& prepared) {
  std::int64_t variants = 0, beyond = 0;
  for (const auto& problem : prepared) {
    variants += problem->space.size();
    beyond += problem->space.not_enumerated();
  }
  print_log("device    {} ({}), {}\n", facts.name, device, facts.toolkit);
  if (facts.kind == "cpu") print_log("          no GPU is used: times are this host's and say nothing of a GPU\n");
  print_log("database  {}\n", db);
  print_log("plan      {} problem{}, {} variants\n", prepared.size(), prepared.size() == 1 ? "" : "s", variants);
  if (beyond > 0) print_log("note      enumerating used half of the budget: {} points were not enumerated\n", beyond);
}

Table plan_table() {
  return Table{{{"op", false, 0},
                {"problem", false, 0},
                {"points", true, 2},
                {"rejected", true, 2},
                {"variants", true, 0},
                {"re-usable", true, 0},
                {"default", false, 3}},
               {}};
}

void add_plan_row(Table& table, const sweep::PreparedProblem& problem, std::int64_t reusable) {
  table.rows.push_back({problem.spec->name, problem.problem.text(), problem.space.enumerated(),
                        rejected_of(problem.space), problem.space.size(), reusable, problem.default_variant.text()});
}

void print_rejections(const sweep::PreparedProblem& problem) {
  print_log("{} {}: {} points, {} variants\n", problem.spec->name, problem.problem.text(), problem.space.enumerated(),
            problem.space.size());
  for (const auto& [why, count] : problem.space.rejected()) print_log("  {:>10} rejected: {}\n", count, why);
  if (const auto beyond = problem.space.not_enumerated(); beyond > 0)
    print_log("  {:>10} not enumerated: half of the budget was used up\n", beyond);
}

report::Report session_report(store::Store& store, std::int64_t session) {
  store::Filter own;
  own.session = session;
  return report::make_report(store.load(own), false, store.load_latest(ceiling_filter()));
}

store::Filter ceiling_filter() {
  store::Filter filter;
  filter.ops.assign(report::kCeilingOps.begin(), report::kCeilingOps.end());
  return filter;
}

const std::vector<Format<Tuned>>& per_key_formats() {
  static const std::vector<Format<Tuned>> kFormats =
      formats_of<Tuned>({{"term", "tables as wide as the terminal", print_tuned_term},
                         {"json", "schema ktune.sweep/1", print_tuned_json}},
                        document_of);
  return kFormats;
}

void print_summary(const sweep::Summary& summary, const std::string& db) {
  print_log("{} trial{} run in {:.1f} s", summary.trials, summary.trials == 1 ? "" : "s", summary.seconds);
  if (summary.seconds > 0.0 && summary.trials > 0)
    print_log(" ({:.1f} a second)", static_cast<double>(summary.trials) / summary.seconds);
  if (summary.reused > 0) print_log(", {} re-used", summary.reused);
  if (summary.not_visited > 0) print_log(", {} not visited", summary.not_visited);
  print_log("; session {} in {}\n", summary.session, db);
  if (summary.out_of_budget) print_log("stopped: the budget is used up; the same command goes on from here\n");
}

}  // namespace ktune::cli
