#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "expr/resolve.h"
#include "model/limits.h"
#include "sweep/sweep.h"

namespace ktune::sweep {

namespace {

/// The inputs' seed depends on the op and the problem, so that every variant of a problem sees the same data whatever
/// else is swept.
std::uint64_t input_seed(const model::Problem& problem, std::uint64_t seed) {
  return hash_64(problem.op + "\n" + problem.text(), seed);
}

/// All but the space.
PreparedProblem resolve(const Work& work, const model::Problem& problem, const model::DeviceFacts& facts,
                        std::uint64_t seed) {
  const model::OpSpec& spec = *work.spec;
  PreparedProblem prepared;
  prepared.spec = work.spec;
  prepared.full = work.full;
  prepared.problem = problem;
  prepared.device = facts;
  prepared.scope = expr::problem_scope(spec, problem, facts);
  prepared.plan = expr::resolve_problem(spec, problem, prepared.scope, facts, input_seed(problem, seed));
  prepared.cost = expr::resolve_cost(spec, prepared.scope);
  prepared.default_variant = expr::default_variant(*work.full, prepared.scope);
  return prepared;
}

/// The limit of the device that a plan breaks.
std::optional<std::string> limit_broken(const PreparedProblem& prepared, const model::VariantPlan& plan) {
  for (const model::LaunchPlan& launch : plan.launches)
    if (const auto broken = model::limit_broken(launch, prepared.device)) return broken->text;
  return std::nullopt;
}

/// The default is measured whatever else is: where --param or the end of the time left it out, it is added.
void add_default(PreparedProblem& prepared, const model::VariantPlan& plan) {
  if (const auto why = limit_broken(prepared, plan))
    throw Error(ErrorKind::kUsage, fmt::format("{}: the default cannot run here: {}", name_of(prepared), *why),
                "the spec's [default] must fit every device it is used on", prepared.full->spec_path);
  prepared.default_id = prepared.space.find_or_add(prepared.default_variant);
  const int launches = static_cast<int>(plan.launches.size()), fewest = prepared.space.fewest_launches();
  prepared.cost.launches = fewest == 0 ? launches : std::min(fewest, launches);
}

SharedProblem prepare_one(const Work& work, const model::Problem& problem, const model::DeviceFacts& facts,
                          std::uint64_t seed, double until_s) {
  PreparedProblem prepared = resolve(work, problem, facts, seed);
  // Before the walk: what no variant escapes is told here, with its line.
  const model::VariantPlan default_plan =
      expr::require_variant(*prepared.full, problem, prepared.scope, prepared.default_variant);
  space::Enumeration how;
  how.target = {problem, facts};
  how.stop = [until_s] { return interrupted() || (until_s > 0.0 && now_s() > until_s); };
  prepared.space = space::enumerate(*work.spec, prepared.scope, how);
  if (interrupted()) throw Error(ErrorKind::kInterrupted, "interrupted");
  if (prepared.space.empty() && prepared.space.not_enumerated() == 0) {
    std::string reasons;
    for (const auto& [why, count] : prepared.space.rejected()) reasons += fmt::format("\n    {} × {}", count, why);
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: no variant passes the constraints ({} points rejected){}", name_of(prepared),
                            prepared.space.enumerated(), reasons),
                "widen --param, the constraints or the spec's values");
  }
  add_default(prepared, default_plan);
  return std::make_shared<const PreparedProblem>(std::move(prepared));
}

}  // namespace

std::string name_of(const PreparedProblem& prepared) {
  const std::string problem = prepared.problem.text();
  return problem.empty() ? prepared.spec->name : fmt::format("{} {}", prepared.spec->name, problem);
}

std::optional<std::string> why_absent(const PreparedProblem& prepared, const model::Variant& variant) {
  if (auto why = space::explain(*prepared.full, prepared.scope, variant)) return why;
  const auto plan = expr::resolve_variant(*prepared.full, prepared.problem, prepared.scope, variant);
  if (plan) return limit_broken(prepared, *plan);
  const model::Failure& failure = plan.error();
  return failure.detail.empty() ? failure.reason : fmt::format("{} ({})", failure.reason, failure.detail);
}

double enumeration_end(double budget_s) { return budget_s > 0.0 ? now_s() + budget_s / 2.0 : 0.0; }

SharedProblem prepare_unswept(const Work& work, const model::Problem& problem, const model::DeviceFacts& facts,
                              std::uint64_t seed) {
  return std::make_shared<const PreparedProblem>(resolve(work, problem, facts, seed));
}

std::vector<SharedProblem> prepare(const std::vector<Work>& work, const model::DeviceFacts& facts, std::uint64_t seed,
                                   double until_s) {
  std::vector<SharedProblem> prepared;
  for (const Work& item : work)
    for (const model::Problem& problem : item.problems)
      prepared.push_back(prepare_one(item, problem, facts, seed, until_s));
  if (prepared.empty())
    throw Error(ErrorKind::kUsage, "no problems to sweep", "give --shape, or a [[problem]] in the spec");
  return prepared;
}

}  // namespace ktune::sweep
