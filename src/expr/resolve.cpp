#include "expr/resolve.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "expr/excerpt.h"
#include "expr/layout.h"

namespace ktune::expr {
namespace {

const model::TensorSpec* find_tensor(const model::OpSpec& spec, const std::string& name) {
  const auto found = std::find_if(spec.tensors.begin(), spec.tensors.end(),
                                  [&](const model::TensorSpec& tensor) { return tensor.name == name; });
  return found == spec.tensors.end() ? nullptr : &*found;
}

model::ArgPlan argument(const model::OpSpec& spec, const model::Problem& problem, const model::Expression& arg,
                        const Scope& scope) {
  model::ArgPlan plan;
  if (find_tensor(spec, arg.text) != nullptr) {
    plan.kind = model::ArgPlan::Kind::kTensor;
    plan.tensor = arg.text;
    return plan;
  }
  for (const model::ScalarSpec& scalar : spec.scalars) {
    if (scalar.name != arg.text) continue;
    plan.kind = model::ArgPlan::Kind::kScalar;
    plan.dtype = scalar.type;
    plan.real = scalar.value;
    for (const auto& [name, value] : problem.scalars) {
      if (name == scalar.name) plan.real = value;
    }
    return plan;
  }
  plan.integer = evaluate(arg, scope);
  return plan;
}

std::array<std::int64_t, 3> extent(const std::vector<model::Expression>& expressions, const Scope& scope,
                                   const std::string& what) {
  std::array<std::int64_t, 3> result{1, 1, 1};
  for (std::size_t i = 0; i < expressions.size() && i < 3; ++i) {
    result[i] = evaluate(expressions[i], scope);
    if (result[i] < 1) {
      fail_at(expressions[i], 0, static_cast<int>(expressions[i].text.size()),
              "a " + what + " of " + std::to_string(result[i]) + ": it must be at least 1");
    }
  }
  return result;
}

model::LaunchPlan launch_plan(const model::OpSpec& spec, const model::Problem& problem, const model::LaunchSpec& launch,
                              const Scope& scope) {
  model::LaunchPlan plan;
  plan.kernel = launch.kernel;
  for (const model::Expression& arg : launch.args) plan.args.push_back(argument(spec, problem, arg, scope));
  plan.grid = extent(launch.grid, scope, "grid size");
  plan.block = extent(launch.block, scope, "block size");
  plan.cluster = extent(launch.cluster, scope, "cluster size");
  plan.pdl = launch.pdl;
  if (!launch.smem.text.empty()) plan.smem_bytes = evaluate(launch.smem, scope);
  if (plan.smem_bytes < 0) {
    fail_at(launch.smem, 0, static_cast<int>(launch.smem.text.size()),
            "shared memory of " + std::to_string(plan.smem_bytes) + " bytes");
  }
  return plan;
}

std::vector<model::LaunchPlan> launch_plans(const model::OpSpec& spec, const model::Problem& problem,
                                            const std::vector<model::LaunchSpec>& launches, const Scope& scope) {
  std::vector<model::LaunchPlan> plans;
  for (const model::LaunchSpec& launch : launches) {
    if (launch.when && evaluate(*launch.when, scope) == 0) continue;
    plans.push_back(launch_plan(spec, problem, launch, scope));
  }
  return plans;
}

/// The scratch tensors some launches name, in the spec's order.
std::vector<model::TensorPlan> scratch_of(const model::OpSpec& spec, const model::Problem& problem,
                                          const std::vector<model::LaunchPlan>& launches, const Scope& scope) {
  std::set<std::string> named;
  for (const model::LaunchPlan& launch : launches) {
    for (const model::ArgPlan& arg : launch.args) named.insert(arg.tensor);
  }
  std::vector<model::TensorPlan> plans;
  for (const model::TensorSpec& tensor : spec.tensors) {
    if (tensor.role == model::Role::kScratch && named.contains(tensor.name)) {
      plans.push_back(tensor_plan(tensor, problem, scope));
    }
  }
  return plans;
}

}  // namespace

std::vector<model::TensorPlan> resolve_tensors(const model::OpSpec& spec, const model::Problem& problem,
                                               const Scope& scope, const model::DeviceFacts& facts) {
  const std::int64_t reduction = spec.verify.reduction.text.empty() ? 1 : evaluate(spec.verify.reduction, scope);
  std::vector<model::TensorPlan> plans;
  std::int64_t total_bytes = 0;  // at most 2^53 a tensor: the sum of fewer than 1024 cannot overflow
  for (const model::TensorSpec& tensor : spec.tensors) {
    if (tensor.role == model::Role::kScratch) continue;
    plans.push_back(tensor_plan(tensor, problem, scope));
    model::TensorPlan& plan = plans.back();
    if (tensor.role != model::Role::kIn)
      plan.tolerance = tolerance_of(spec, tensor, plan.dtype, accumulator_of(spec, problem), reduction);
    total_bytes += plan.storage_bytes();
    if (facts.memory_bytes > 0 && total_bytes > facts.memory_bytes) {
      throw Error(ErrorKind::kUsage,
                  spec.name + " " + problem.text() + " needs " + format_bytes(total_bytes) + " up to tensor '" +
                      tensor.name + "'; the device has " + format_bytes(facts.memory_bytes),
                  "use smaller sizes");
    }
  }
  return plans;
}

model::ProblemPlan resolve_problem(const model::OpSpec& spec, const model::Problem& problem, const Scope& scope,
                                   const model::DeviceFacts& facts, std::uint64_t seed) {
  model::ProblemPlan plan;
  plan.op = spec.name;
  plan.problem = problem.text();
  plan.tensors = resolve_tensors(spec, problem, scope, facts);
  plan.reference = launch_plans(spec, problem, spec.reference, scope);
  if (plan.reference.empty()) {
    throw Error(ErrorKind::kUsage, "no reference launch of " + spec.name + " applies to " + plan.problem,
                "the `when` of one [[reference.launch]] must hold for every problem", spec.spec_path);
  }
  plan.reference_scratch = scratch_of(spec, problem, plan.reference, scope);
  plan.seed = seed;
  return plan;
}

model::VariantPlan resolve_variant(const model::OpSpec& spec, const model::Problem& problem, const Scope& scope,
                                   const model::Variant& variant) {
  const Scope bound = variant_scope(scope, variant);
  model::VariantPlan plan;
  plan.variant = variant.text();
  plan.launches = launch_plans(spec, problem, spec.launches, bound);
  if (plan.launches.empty()) {
    throw Error(ErrorKind::kUsage, "no launch of " + spec.name + " applies to " + plan.variant,
                "the `when` of one [[launch]] must hold for every variant", spec.spec_path);
  }
  plan.scratch = scratch_of(spec, problem, plan.launches, bound);
  return plan;
}

model::Cost resolve_cost(const model::OpSpec& spec, const Scope& problem) {
  const auto value = [&](const model::Expression& expression, const char* what) {
    if (expression.text.empty()) return std::int64_t{0};
    const std::int64_t result = evaluate(expression, problem);
    if (result < 0) {
      fail_at(expression, 0, static_cast<int>(expression.text.size()),
              std::string("[cost] ") + what + " is " + std::to_string(result));
    }
    return result;
  };
  model::Cost cost;
  cost.bytes_read = value(spec.cost.reads, "reads");
  cost.bytes_written = value(spec.cost.writes, "writes");
  cost.scratch_bytes = value(spec.cost.scratch, "scratch");
  cost.flops = value(spec.cost.flops, "flops");
  return cost;
}

model::DType accumulator_of(const model::OpSpec& spec, const model::Problem& problem) {
  const auto f64 = [](const std::string& name) { return model::parse_dtype(name) == model::DType::kF64; };
  if (!problem.types.empty()) return f64(problem.types.front().second) ? model::DType::kF64 : model::DType::kF32;
  const bool all = std::all_of(spec.tensors.begin(), spec.tensors.end(),
                               [&](const model::TensorSpec& tensor) { return f64(tensor.type); });
  return all ? model::DType::kF64 : model::DType::kF32;
}

model::Tolerance tolerance_of(const model::OpSpec& spec, const model::TensorSpec& tensor, model::DType dtype,
                              model::DType accumulator_dtype, std::int64_t reduction_length) {
  for (const auto& [name, tolerance] : spec.verify.tolerances) {
    if (name == tensor.name) return tolerance;
  }
  const double roundoff = unit_roundoff(dtype);
  if (roundoff == 0.0) return {};
  // Rounding to the output's type (or the accumulator's, whichever is coarser: an f64 output of f32 sums has no more
  // than f32 to give) is relative, with room for a few roundings on the way. What the accumulator's rounding leaves
  // adds up like a random walk and stays where terms cancel, so only that is absolute too.
  const double accumulator = unit_roundoff(accumulator_dtype);
  const double terms = static_cast<double>(std::max<std::int64_t>(reduction_length, 1));
  const bool is_sum =
      std::find(spec.verify.sums.begin(), spec.verify.sums.end(), tensor.name) != spec.verify.sums.end();
  const double walk = accumulator * 2 * std::sqrt(terms);
  return {std::max(roundoff, accumulator) * 4 + walk, accumulator * 4 + (is_sum ? walk * std::sqrt(terms) : walk)};
}

}  // namespace ktune::expr
