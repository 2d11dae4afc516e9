#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "expr/resolve.h"
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
  prepared.scope = expr::problem_scope(spec, problem, facts);
  prepared.plan = expr::resolve_problem(spec, problem, prepared.scope, facts, input_seed(problem, seed));
  prepared.cost = expr::resolve_cost(spec, prepared.scope);
  prepared.default_variant = expr::default_variant(*work.full, prepared.scope);
  return prepared;
}

SharedProblem prepare_one(const Work& work, const model::Problem& problem, const model::DeviceFacts& facts,
                          std::uint64_t seed) {
  PreparedProblem prepared = resolve(work, problem, facts, seed);
  prepared.space = space::enumerate(*work.spec, prepared.scope);
  if (prepared.space.empty()) {
    std::string reasons;
    for (const auto& [why, count] : prepared.space.rejected()) reasons += fmt::format("\n    {} × {}", count, why);
    throw Error(ErrorKind::kUsage,
                fmt::format("{} {}: no variant passes the constraints ({} points rejected){}", problem.op,
                            problem.text(), prepared.space.enumerated(), reasons),
                fmt::format("`ktune space --op {} --explain` shows which constraint rejects what; widen --param or the "
                            "spec's values",
                            problem.op));
  }
  // Where --param narrowed it away the default is measured all the same.
  prepared.default_id = prepared.space.find_or_add(prepared.default_variant);
  // Every launch size of every variant is evaluated now: a division by zero in the last one is told before the first
  // is compiled.
  for (std::int64_t id = 0; id < prepared.space.size(); ++id) {
    const auto plan = expr::resolve_variant(*work.spec, problem, prepared.scope, prepared.space.variant(id));
    const int launches = static_cast<int>(plan.launches.size());
    prepared.cost.launches = prepared.cost.launches == 0 ? launches : std::min(prepared.cost.launches, launches);
  }
  return std::make_shared<const PreparedProblem>(std::move(prepared));
}

}  // namespace

SharedProblem prepare_unswept(const Work& work, const model::Problem& problem, const model::DeviceFacts& facts,
                              std::uint64_t seed) {
  return std::make_shared<const PreparedProblem>(resolve(work, problem, facts, seed));
}

std::vector<SharedProblem> prepare(const std::vector<Work>& work, const model::DeviceFacts& facts, std::uint64_t seed) {
  std::vector<SharedProblem> prepared;
  for (const Work& item : work)
    for (const model::Problem& problem : item.problems) prepared.push_back(prepare_one(item, problem, facts, seed));
  if (prepared.empty())
    throw Error(ErrorKind::kUsage, "no problems to sweep", "give --shape, or a [[problem]] in the spec");
  return prepared;
}

}  // namespace ktune::sweep
