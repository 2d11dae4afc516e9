#include "trial/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/files.h"
#include "base/hash.h"
#include "expr/expr.h"
#include "expr/resolve.h"
#include "measure/measure.h"
#include "model/json.h"
#include "trial/protocol.h"

namespace ktune::trial {
namespace {

std::vector<std::string> kernels_of(const std::vector<model::LaunchSpec>& launches, const expr::Scope& scope) {
  std::vector<std::string> kernels;
  for (const model::LaunchSpec& launch : launches) {
    if (launch.when && expr::evaluate(*launch.when, scope) == 0) continue;
    if (std::find(kernels.begin(), kernels.end(), launch.kernel) == kernels.end()) kernels.push_back(launch.kernel);
  }
  return kernels;
}

compile::CompileJob common_job(const model::OpSpec& spec, const model::Problem& problem, const model::Variant& variant,
                               const model::DeviceFacts& facts, double deadline_s) {
  compile::CompileJob job;
  job.source_path = spec.source_path;
  job.macros = expr::macros_of(spec, problem, variant);
  job.include_dirs = spec.include_dirs;
  const std::string shared = (resource_root() / "kernels" / "include").string();
  if (std::find(job.include_dirs.begin(), job.include_dirs.end(), shared) == job.include_dirs.end()) {
    job.include_dirs.push_back(shared);
  }
  job.options = spec.options;
  job.target = facts.target;
  job.deadline_s = deadline_s;
  return job;
}

}  // namespace

compile::CompileJob variant_job(const model::OpSpec& spec, const model::Problem& problem, const model::Variant& variant,
                                const model::DeviceFacts& facts, double deadline_s) {
  compile::CompileJob job = common_job(spec, problem, variant, facts, deadline_s);
  job.kernels = kernels_of(spec.launches, expr::variant_scope(expr::problem_scope(spec, problem, facts), variant));
  return job;
}

compile::CompileJob reference_job(const model::OpSpec& spec, const model::Problem& problem,
                                  const model::Variant& default_variant, const model::DeviceFacts& facts,
                                  double deadline_s) {
  compile::CompileJob job = common_job(spec, problem, default_variant, facts, deadline_s);
  job.macros.emplace_back("KTUNE_REFERENCE", "1");
  const expr::Scope scope = expr::problem_scope(spec, problem, facts);
  job.kernels = kernels_of(spec.reference, expr::variant_scope(scope, default_variant));
  return job;
}

std::map<std::string, std::string> fingerprint_parts(const model::OpSpec& spec, const model::Problem& problem,
                                                     const model::Variant& variant, const model::DeviceFacts& facts,
                                                     const std::string& compile_key, std::uint64_t seed,
                                                     const std::string& timer, model::CacheState cache_state) {
  const expr::Scope scope = expr::problem_scope(spec, problem, facts);
  const model::Json problem_plan = expr::resolve_problem(spec, problem, scope, facts, seed);
  const model::Json variant_plan = expr::require_variant(spec, problem, scope, variant);
  return {
      {"op", spec.name},
      {"problem", problem.text()},
      {"variant", variant.text()},
      {"spec", hash_hex(problem_plan.dump() + variant_plan.dump())},
      {"source", compile_key},
      {"seed", std::to_string(seed)},
      {"device", facts.name},
      {"uuid", facts.uuid},
      {"driver", facts.driver},
      {"toolkit", facts.toolkit},
      {"power_limit", fmt::format("{:.0f} W", facts.power_limit_w)},
      {"timer", timer},
      {"cache_state", std::string(model::name_of(cache_state))},
      {"worker_protocol", std::to_string(kWorkerProtocol)},
      {"measurement_protocol", std::to_string(measure::kMeasurementProtocol)},
  };
}

std::string fingerprint(const std::map<std::string, std::string>& parts) {
  FieldHasher hasher;
  for (const auto& [name, value] : parts) hasher.add(name, value);
  return hasher.hex();
}

}  // namespace ktune::trial
