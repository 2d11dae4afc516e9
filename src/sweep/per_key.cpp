#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "sweep/sweep.h"

namespace ktune::sweep {

namespace {

/// What asks for a new winner: the key dims, the dtypes and the attributes.
std::string key_text(const PreparedProblem& prepared) {
  std::string text;
  for (const auto& [name, size] : prepared.problem.dims)
    for (const std::string& key : prepared.spec->key)
      if (key == name) text += fmt::format("{}={} ", name, size);
  for (const auto& [name, dtype] : prepared.problem.types)
    text += name == prepared.problem.types.front().first ? dtype : fmt::format(" {}={}", name, dtype);
  for (const auto& [name, value] : prepared.problem.attrs) text += fmt::format(" {}={}", name, value.text());
  return text;
}

using Times = std::map<std::string, double>;  // by variant

/// Times of one problem's measured variants, choosing rounds only: every variant has one, finalists or not.
Times times_of(const model::Dataset& dataset, const PreparedProblem& prepared) {
  Times times;
  for (const model::TrialRecord& trial : dataset.trials)
    if (trial.op == prepared.spec->name && trial.problem_text == prepared.problem.text() && !trial.is_final &&
        trial.outcome == model::Outcome::kMeasured)
      times[trial.variant.text()] = trial.timing.time_us;
  return times;
}

struct Member {
  SharedProblem prepared;
  Times times;
  double best = 0.0;
};

KeyChoice choose(const std::string& key, const std::vector<Member>& members) {
  KeyChoice choice;
  choice.op = members.front().prepared->spec->name;
  choice.key = key;
  choice.problems = members.size();
  double best_score = 0.0;
  const space::Space& space = members.front().prepared->space;
  for (std::int64_t id = 0; id < space.size(); ++id) {
    const model::Variant variant = space.variant(id);
    double log_sum = 0.0, weight_sum = 0.0, worst = 0.0;
    std::string worst_problem;
    bool everywhere = true;
    for (const Member& member : members) {
      const auto at = member.times.find(variant.text());
      if (at == member.times.end()) {
        everywhere = false;
        break;
      }
      const double ratio = at->second / member.best;
      log_sum += member.prepared->problem.weight * std::log(ratio);
      weight_sum += member.prepared->problem.weight;
      if (worst_problem.empty() || ratio > worst) {
        worst = ratio;
        worst_problem = member.prepared->problem.text();
      }
    }
    if (!everywhere || weight_sum <= 0.0) continue;
    const double score = std::exp(log_sum / weight_sum);
    if (!choice.worst_problem.empty() && score >= best_score) continue;
    best_score = score;
    choice.variant = variant;
    choice.mean_regret_pct = 100.0 * (score - 1.0);
    choice.worst_regret_pct = 100.0 * (worst - 1.0);
    choice.worst_problem = worst_problem;
  }
  return choice;
}

}  // namespace

std::vector<KeyChoice> choose_per_key(const std::vector<SharedProblem>& problems, const model::Dataset& dataset) {
  std::map<std::string, std::vector<Member>> groups;
  for (const SharedProblem& prepared : problems) {
    Member member{prepared, times_of(dataset, *prepared), 0.0};
    for (const auto& [variant, time] : member.times)
      if (member.best == 0.0 || time < member.best) member.best = time;
    if (member.best > 0.0) groups[prepared->spec->name + "\n" + key_text(*prepared)].push_back(std::move(member));
  }
  std::vector<KeyChoice> choices;
  for (const auto& [key, members] : groups) {
    KeyChoice choice = choose(key.substr(key.find('\n') + 1), members);
    if (!choice.worst_problem.empty()) choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace ktune::sweep
