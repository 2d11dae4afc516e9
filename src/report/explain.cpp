#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "model/problem_match.h"
#include "report/report.h"
#include "report/winners.h"

namespace ktune::report {

namespace {

using model::Outcome;
using model::ProblemRecord;
using model::TrialRecord;

Error nothing_swept(const model::Dataset& dataset, const std::string& op, const std::string& asked) {
  std::vector<std::string> ops, problems;
  for (const ProblemRecord& problem : dataset.problems) {
    if (std::find(ops.begin(), ops.end(), problem.op) == ops.end()) ops.push_back(problem.op);
    const std::string text = problem.problem.text();
    if (problem.op == op && std::find(problems.begin(), problems.end(), text) == problems.end())
      problems.push_back(text);
  }
  if (problems.empty())
    return Error(ErrorKind::kNoData, fmt::format("{} was never swept here{}", op, did_you_mean(op, ops)),
                 ops.empty() ? "run `ktune sweep --op " + op + "` first" : "swept were: " + join(ops, ", "));
  return Error(ErrorKind::kNoData,
               fmt::format("{} was never swept for '{}'{}", op, asked, did_you_mean(asked, problems)),
               "swept were: " + join(problems, "; "));
}

std::string percent_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? fmt::format(" ({:.1f} %)", 100.0 * static_cast<double>(part) / static_cast<double>(whole)) : "";
}

std::string counts_text(const Row& row) {
  std::vector<std::string> parts{fmt::format("{} rejected", row.rejected), fmt::format("{} measured", row.measured)};
  parts.push_back(fmt::format("{} failed", failed_of(row)));
  parts.push_back(fmt::format("{} not visited", row.not_visited));
  std::string text =
      fmt::format("  {} {}: {}", row.enumerated, row.enumerated == 1 ? "point" : "points", join(parts, ", "));
  if (row.reused > 0) text += fmt::format("; {} re-used from earlier sessions", row.reused);
  return text + '\n';
}

/// How many points each reason cost, the most first.
std::vector<std::pair<std::int64_t, std::string>> rejections_of(const ProblemRecord& problem) {
  std::vector<std::pair<std::int64_t, std::string>> rejections;
  for (const auto& [why, count] : problem.rejected) rejections.emplace_back(count, why);
  std::sort(rejections.begin(), rejections.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  return rejections;
}

std::string rejected_text(const ProblemRecord& problem) {
  const auto lines = rejections_of(problem);
  if (lines.empty()) return "";
  const std::size_t width = std::to_string(lines.front().first).size();
  std::string text = "  rejected before any was built\n";
  for (const auto& [count, why] : lines)
    text += fmt::format("    {:>{}}  {}{}\n", count, width, why, percent_of(count, problem.enumerated));
  return text;
}

/// Trials that ended alike under one line, then each of them with what `ktune show` takes.
std::string failures_text(const std::vector<const TrialRecord*>& trials) {
  std::map<std::pair<Outcome, std::string>, std::vector<const TrialRecord*>> groups;
  for (const TrialRecord* trial : trials)
    if (trial->outcome != Outcome::kMeasured) groups[{trial->outcome, trial->reason}].push_back(trial);
  std::string text;
  Outcome last = Outcome::kMeasured;
  for (const auto& [key, members] : groups) {
    if (key.first != last) text += fmt::format("  {}\n", name_of(key.first));
    last = key.first;
    text += fmt::format("    {}  {}\n", members.size(), key.second.empty() ? "no reason was given" : key.second);
    for (const TrialRecord* trial : members)
      text += fmt::format("       trial {}{}: {}\n", trial->id, trial->is_final ? " (second timing)" : "",
                          trial->variant.text());
  }
  return text;
}

std::string explain_one(const Indexed& index, const ProblemRecord& problem, const Row& row) {
  std::string text = fmt::format("{} {} on {}, session {} of {}\n", problem.op, problem.problem.text(), row.device,
                                 row.session, row.date);
  text += counts_text(row);
  text += rejected_text(problem);
  const std::string failures = failures_text(index.trials_of(problem));
  text += failures.empty() ? "  nothing failed\n" : failures;
  if (row.time_us)
    text += fmt::format("  fastest: {}, trial {}: {}\n", format_time_us(*row.time_us), row.trial, row.variant.text());
  return text;
}

/// The tables of the problems, their rejections and their failures; rows are added problem by problem.
struct Tables {
  Table problems{{{"op"},
                  {"problem"},
                  {"device"},
                  {"session", true},
                  {"date"},
                  {"points", true},
                  {"rejected", true},
                  {"measured", true},
                  {"failed", true},
                  {"not visited", true},
                  {"re-used", true},
                  {"fastest us", true},
                  {"trial", true},
                  {"variant"}},
                 {}};
  Table rejections{{{"op"}, {"problem"}, {"points", true}, {"reason"}}, {}};
  Table failures{{{"op"}, {"problem"}, {"outcome"}, {"reason"}, {"trial", true}, {"second timing"}, {"variant"}}, {}};

  void add(const Indexed& index, const ProblemRecord& problem, const Row& row) {
    const std::string text = problem.problem.text();
    const bool named = row.time_us.has_value();
    problems.rows.push_back({problem.op, text, row.device, row.session, row.date, row.enumerated, row.rejected,
                             row.measured, failed_of(row), row.not_visited, row.reused,
                             named ? Cell::number(*row.time_us, fmt::format("{:.2f}", *row.time_us)) : Cell::nothing(),
                             named ? Cell(row.trial) : Cell::nothing(),
                             named ? Cell(row.variant.text()) : Cell::nothing()});
    for (const auto& [count, why] : rejections_of(problem)) rejections.rows.push_back({problem.op, text, count, why});
    for (const TrialRecord* trial : index.trials_of(problem)) {
      if (trial->outcome == Outcome::kMeasured) continue;
      failures.rows.push_back({problem.op, text, name_of(trial->outcome), trial->reason, trial->id,
                               Cell::truth(trial->is_final, trial->is_final ? "yes" : "no"), trial->variant.text()});
    }
  }
};

}  // namespace

Document explain(const model::Dataset& dataset, const std::string& op, const std::string& asked) {
  const Indexed index(dataset);
  std::vector<const ProblemRecord*> found;
  for (const ProblemRecord* problem : index.newest())
    if (problem->op == op && matches(problem->problem, asked)) found.push_back(problem);
  if (found.empty()) throw nothing_swept(dataset, op, asked);
  std::sort(found.begin(), found.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
  std::string text;
  Tables tables;
  for (const ProblemRecord* problem : found) {
    const Row row = winner_row(index, *problem);
    if (!text.empty()) text += '\n';
    text += explain_one(index, *problem, row);
    tables.add(index, *problem, row);
  }
  Document document;
  document.schema = "ktune.explain/1";
  document.title = fmt::format("What became of the variants of {}", op);
  document.csv_key = "failures";
  document.sections = {
      {"problems", {}, std::move(tables.problems), {}, Audience::kAll, "problems"},
      {"rejected before any was built", {}, std::move(tables.rejections), {}, Audience::kAll, "rejections"},
      {"failed", {}, std::move(tables.failures), {}, Audience::kAll, "failures"}};
  document.term = [text](int, bool) { return text; };
  return document;
}

}  // namespace ktune::report
