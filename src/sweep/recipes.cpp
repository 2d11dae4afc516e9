#include "sweep/recipes.h"

#include <utility>

#include "expr/resolve.h"
#include "sweep/timer.h"
#include "trial/build.h"

namespace ktune::sweep {

Recipes::Recipes(const PreparedProblem& prepared, const model::DeviceFacts& facts, const Options& options,
                 std::function<std::string(const compile::CompileJob&)> key)
    : prepared_(prepared), facts_(facts), options_(options), key_(std::move(key)) {}

model::Result<model::VariantPlan> Recipes::plan(search::VariantId id) const {
  return expr::require_variant(*prepared_.spec, prepared_.problem, prepared_.scope, variant(id));
}

compile::CompileJob Recipes::job(search::VariantId id) const {
  return trial::variant_job(*prepared_.spec, prepared_.problem, variant(id), facts_, options_.compile_deadline_s);
}

compile::CompileJob Recipes::reference_job() const {
  return trial::reference_job(*prepared_.spec, prepared_.problem, prepared_.default_variant, facts_,
                              options_.compile_deadline_s);
}

std::map<std::string, std::string> Recipes::parts(search::VariantId id, const model::TimerRequest& timer) const {
  auto parts = trial::fingerprint_parts(*prepared_.spec, prepared_.problem, variant(id), facts_, key_(job(id)),
                                        prepared_.plan.seed, timer_part(facts_, options_, timer), options_.cache_state);
  parts["race"] = options_.race ? "yes" : "no";
  return parts;
}

}  // namespace ktune::sweep
