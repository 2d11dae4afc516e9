#include "probe/recorded_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/text.h"
#include "compile/compile.h"
#include "model/problem_match.h"
#include "spec/spec.h"
#include "trial/build.h"

namespace ktune::probe {

namespace {

/// "NAME=V,…" with what it leaves out from `fallback`, by text: there is no spec to ask here.
std::string completed(const std::string& values, const model::Variant& fallback) {
  const auto given = spec::variant_assignments(values);
  std::vector<std::string> names, parts;
  for (const auto& [name, value] : fallback.values) names.push_back(name);
  for (const auto& [name, value] : given)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Error(ErrorKind::kUsage, fmt::format("it has no parameter '{}'{}", name, did_you_mean(name, names)),
                  "one of " + join(names, ", "));
  for (const auto& [name, value] : fallback.values) {
    const auto at =
        std::find_if(given.begin(), given.end(), [&known = name](const auto& one) { return one.first == known; });
    parts.push_back(fmt::format("{}={}", name, at == given.end() ? value.text() : at->second));
  }
  return join(parts, ",");
}

/// Variant::text() of what the choice means in this session; "": it named no winner.
std::string wanted_in(const model::ProblemRecord& record, const sweep::VariantChoice& choice) {
  if (choice.kind == sweep::VariantChoice::Kind::kNamed) return completed(choice.values, record.default_variant);
  if (!choice.is_winner()) return record.default_variant.text();
  if (choice.session > 0 && record.session != choice.session) return "";
  return record.winner.values.empty() ? "" : record.winner.text();
}

const model::Problem& problem_of(const model::Dataset& dataset, const model::TrialRecord& trial) {
  for (const auto& problem : dataset.problems)
    if (problem.op == trial.op && problem.problem.text() == trial.problem_text) return problem.problem;
  throw Error(ErrorKind::kNoData, fmt::format("trial {} has no problem in this database", trial.id));
}

compile::CompileJob job_of(store::Store& store, const model::TrialRecord& trial, const std::string& config,
                           const Notices& notices) {
  store::Filter filter;
  filter.session = trial.session;
  const model::Dataset dataset = store.load(filter);
  if (dataset.sessions.empty())
    throw Error(ErrorKind::kNoData, fmt::format("session {} is not in {}", trial.session, store.path()));
  const std::vector<std::string> shipped = spec::shipped_ops();
  if (config.empty() && std::find(shipped.begin(), shipped.end(), trial.op) == shipped.end())
    throw Error(ErrorKind::kUsage, fmt::format("{} is no op that comes with ktune", trial.op),
                "give --config with the TOML that it was swept with");
  const model::OpSpec spec = config.empty() ? spec::load_shipped_op(trial.op) : spec::load_op(config);
  for (const auto& [name, value] : trial.variant.values) {
    const bool known = std::any_of(spec.params.begin(), spec.params.end(),
                                   [&wanted = name](const model::Parameter& param) { return param.name == wanted; });
    if (!known || trial.variant.values.size() != spec.params.size())
      throw Error(ErrorKind::kUsage,
                  fmt::format("trial {} has other parameters than {} has now", trial.id, spec.spec_path),
                  "give --config with the TOML that it was swept with");
  }
  auto job = trial::variant_job(spec, problem_of(dataset, trial), trial.variant, dataset.sessions.front().device, 60.0);
  if (!trial.binary_key.empty() && compile::cache_key(job) != trial.binary_key)
    notices.say(fmt::format("note: the op's files or the compiler changed since trial {}: this is what they give now",
                            trial.id));
  return job;
}

/// The text of the stored problem that is meant; what was asked where there is none.
std::string the_one_problem(const model::Dataset& dataset, const std::string& op, const std::string& asked) {
  std::set<std::string> found;
  for (const model::ProblemRecord& record : dataset.problems) {
    if (record.op != op || !model::matches(record.problem, asked)) continue;
    if (record.problem.text() == asked) return asked;
    found.insert(record.problem.text());
  }
  if (found.size() > 1)
    throw Error(ErrorKind::kUsage, fmt::format("'{}' names {} problems of {}", asked, found.size(), op),
                "give more of one: " + join(std::vector<std::string>(found.begin(), found.end()), "; "));
  return found.empty() ? asked : *found.begin();
}

}  // namespace

std::int64_t find_trial(const model::Dataset& dataset, const std::string& op, const std::string& asked,
                        const sweep::VariantChoice& choice) {
  const std::string problem = the_one_problem(dataset, op, asked);
  const model::TrialRecord* best = nullptr;
  const auto rank = [](const model::TrialRecord& trial) { return std::tuple(trial.session, trial.is_final, trial.id); };
  for (const model::ProblemRecord& record : dataset.problems) {
    if (record.op != op || record.problem.text() != problem) continue;
    const std::string wanted = wanted_in(record, choice);
    if (wanted.empty()) continue;
    for (const model::TrialRecord& trial : dataset.trials)
      if (trial.problem == record.id && trial.variant.text() == wanted &&
          (best == nullptr || rank(*best) < rank(trial)))
        best = &trial;
  }
  if (best == nullptr)
    throw Error(ErrorKind::kNoData, fmt::format("no such trial of {} {} is stored", op, problem),
                "`ktune report --all` lists the trials");
  return best->id;
}

std::string recorded_code(store::Store& store, const model::TrialRecord& trial, const std::string& config,
                          CodeView view, const Notices& notices) {
  const compile::CompileJob job = job_of(store, trial, config, notices);
  if (view == CodeView::kPtx) return compile::ptx_of(job);
  const auto binary = compile::compile_one(job, compile::binaries_dir());
  if (view == CodeView::kLog) {
    const std::string log = binary ? binary->log : binary.error().detail;
    return log.empty() ? "(the compiler said nothing)\n" : log;
  }
  if (!binary)
    throw Error(ErrorKind::kNo, "it does not compile: " + binary.error().reason,
                "`ktune show TRIAL --log` prints the log");
  return compile::sass_of(*binary);
}

}  // namespace ktune::probe
