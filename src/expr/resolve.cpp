#include "expr/resolve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "expr/excerpt.h"
#include "expr/layout.h"

namespace ktune::expr {
namespace {

constexpr std::int64_t kMostOfLaunch = std::numeric_limits<std::int32_t>::max();

const model::TensorSpec* find_tensor(const model::OpSpec& spec, const std::string& name) {
  const auto found = std::find_if(spec.tensors.begin(), spec.tensors.end(),
                                  [&](const model::TensorSpec& tensor) { return tensor.name == name; });
  return found == spec.tensors.end() ? nullptr : &*found;
}

/// Evaluates the expressions of one variant. The first that fails is kept; values after it mean nothing.
class Values {
 public:
  explicit Values(const Scope& scope) : scope_(scope) {}

  std::int64_t value(const model::Expression& expression) {
    if (rejection_) return 0;
    const auto value = try_evaluate(expression, scope_);
    if (value) return *value;
    rejection_ = value.error();
    return 0;
  }

  /// A value of a launch, which a device takes as 32 bits.
  std::int64_t value_from(std::int64_t least, const model::Expression& expression, const std::string& what) {
    const std::int64_t result = value(expression);
    if (!rejection_ && result < least) reject(what + " below " + std::to_string(least), expression);
    if (!rejection_ && result > kMostOfLaunch) reject(what + " beyond 2^31 - 1", expression);
    return result;
  }

  const Scope& scope() const { return scope_; }
  const std::optional<Rejection>& rejection() const { return rejection_; }
  void reject(Rejection rejection) { rejection_ = std::move(rejection); }

 private:
  void reject(const std::string& what, const model::Expression& expression) {
    rejection_ = Rejection{what + " in '" + expression.text + "'", values_in(expression, scope_), expression};
  }

  const Scope& scope_;
  std::optional<Rejection> rejection_;
};

model::ArgPlan argument(const model::OpSpec& spec, const model::Problem& problem, const model::Expression& arg,
                        Values& values) {
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
  plan.integer = values.value(arg);
  return plan;
}

std::array<std::int64_t, 3> extent(const std::vector<model::Expression>& expressions, Values& values,
                                   const std::string& what) {
  std::array<std::int64_t, 3> result{1, 1, 1};
  for (std::size_t i = 0; i < expressions.size() && i < 3; ++i) {
    result[i] = values.value_from(1, expressions[i], what);
  }
  return result;
}

model::LaunchPlan launch_plan(const model::OpSpec& spec, const model::Problem& problem, const model::LaunchSpec& launch,
                              Values& values) {
  model::LaunchPlan plan;
  plan.kernel = launch.kernel;
  for (const model::Expression& arg : launch.args) plan.args.push_back(argument(spec, problem, arg, values));
  plan.grid = extent(launch.grid, values, "a grid size");
  plan.block = extent(launch.block, values, "a block size");
  plan.cluster = extent(launch.cluster, values, "a cluster size");
  plan.pdl = launch.pdl;
  if (!launch.smem.text.empty()) plan.smem_bytes = values.value_from(0, launch.smem, "shared memory");
  return plan;
}

std::vector<model::LaunchPlan> launch_plans(const model::OpSpec& spec, const model::Problem& problem,
                                            const std::vector<model::LaunchSpec>& launches, Values& values) {
  std::vector<model::LaunchPlan> plans;
  for (const model::LaunchSpec& launch : launches) {
    if (launch.when && values.value(*launch.when) == 0) continue;
    plans.push_back(launch_plan(spec, problem, launch, values));
  }
  return plans;
}

/// The scratch tensors some launches name, in the spec's order.
std::vector<model::TensorPlan> scratch_of(const model::OpSpec& spec, const model::Problem& problem,
                                          const std::vector<model::LaunchPlan>& launches, Values& values) {
  std::set<std::string> named;
  for (const model::LaunchPlan& launch : launches) {
    for (const model::ArgPlan& arg : launch.args) named.insert(arg.tensor);
  }
  std::vector<model::TensorPlan> plans;
  for (const model::TensorSpec& tensor : spec.tensors) {
    if (tensor.role != model::Role::kScratch || !named.contains(tensor.name)) continue;
    const auto layout = try_layout(tensor, problem, values.scope());
    if (layout) {
      plans.push_back(tensor_plan(tensor, problem, *layout));
    } else {
      values.reject(layout.error());
    }
  }
  return plans;
}

tl::expected<model::VariantPlan, Rejection> plan_variant(const model::OpSpec& spec, const model::Problem& problem,
                                                         const Scope& scope, const model::Variant& variant) {
  const Scope bound = variant_scope(scope, variant);
  Values values(bound);
  model::VariantPlan plan;
  plan.variant = variant.text();
  plan.launches = launch_plans(spec, problem, spec.launches, values);
  if (values.rejection()) return tl::unexpected(*values.rejection());
  if (plan.launches.empty()) {
    throw Error(ErrorKind::kUsage, "no launch of " + spec.name + " applies to " + plan.variant,
                "the `when` of one [[launch]] must hold for every variant", spec.spec_path);
  }
  plan.scratch = scratch_of(spec, problem, plan.launches, values);
  if (values.rejection()) return tl::unexpected(*values.rejection());
  return plan;
}

}  // namespace

std::vector<model::TensorPlan> resolve_tensors(const model::OpSpec& spec, const model::Problem& problem,
                                               const Scope& scope, const model::DeviceFacts& facts) {
  const std::int64_t reduction = spec.verify.reduction.text.empty() ? 1 : evaluate(spec.verify.reduction, scope);
  std::vector<model::TensorPlan> plans;
  std::int64_t total_bytes = 0;
  for (const model::TensorSpec& tensor : spec.tensors) {
    if (tensor.role == model::Role::kScratch) continue;
    plans.push_back(tensor_plan(tensor, problem, layout_of(tensor, problem, scope)));
    model::TensorPlan& plan = plans.back();
    plan.trivial =
        std::find(spec.verify.trivial.begin(), spec.verify.trivial.end(), tensor.name) != spec.verify.trivial.end();
    if (tensor.role != model::Role::kIn)
      plan.tolerance = tolerance_of(spec, tensor, plan.dtype, accumulator_of(spec, problem), reduction, plan.storage);
    if (add(total_bytes, plan.storage_bytes(), total_bytes) != Fault::kNone) {
      throw Error(ErrorKind::kUsage, spec.name + " " + problem.text() + " needs more than 2^63 bytes",
                  "use smaller sizes");
    }
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
  Values values(scope);
  plan.reference = launch_plans(spec, problem, spec.reference, values);
  if (values.rejection()) values.rejection()->raise();
  if (plan.reference.empty()) {
    throw Error(ErrorKind::kUsage, "no reference launch of " + spec.name + " applies to " + plan.problem,
                "the `when` of one [[reference.launch]] must hold for every problem", spec.spec_path);
  }
  plan.reference_scratch = scratch_of(spec, problem, plan.reference, values);
  if (values.rejection()) values.rejection()->raise();
  plan.seed = seed;
  plan.may_vary = spec.verify.nondeterministic;
  if (facts.spec_gbps > 0.0 && facts.kind != "cpu") {
    const model::Cost cost = resolve_cost(spec, scope);
    const std::int64_t bytes = cost.bytes_read + std::max<std::int64_t>(cost.bytes_written - facts.l2_bytes, 0);
    plan.least_cold_us = static_cast<double>(bytes) / (facts.spec_gbps * 1e3);
  }
  return plan;
}

model::Result<model::VariantPlan> resolve_variant(const model::OpSpec& spec, const model::Problem& problem,
                                                  const Scope& scope, const model::Variant& variant) {
  auto plan = plan_variant(spec, problem, scope, variant);
  if (!plan) return tl::unexpected(plan.error().failure());
  return std::move(*plan);
}

model::VariantPlan require_variant(const model::OpSpec& spec, const model::Problem& problem, const Scope& scope,
                                   const model::Variant& variant) {
  auto plan = plan_variant(spec, problem, scope, variant);
  if (!plan) plan.error().raise();
  return std::move(*plan);
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
                              model::DType accumulator_dtype, std::int64_t reduction_length, std::int64_t elements) {
  for (const auto& [name, tolerance] : spec.verify.tolerances) {
    if (name == tensor.name) return tolerance;
  }
  const double roundoff = unit_roundoff(dtype);
  if (roundoff == 0.0) return {};  // an integer
  // Rounding to the output's type (or the accumulator's, whichever is coarser: an f64 output of f32 sums has no more
  // than f32 to give) is relative, with room for a few roundings on the way. What the accumulator's rounding leaves
  // adds up like a random walk and stays where terms cancel, so only that is absolute too.
  const double accumulator = unit_roundoff(accumulator_dtype);
  const double terms = static_cast<double>(std::max<std::int64_t>(reduction_length, 1));
  const bool is_sum =
      std::find(spec.verify.sums.begin(), spec.verify.sums.end(), tensor.name) != spec.verify.sums.end();
  const double largest = std::sqrt(2 * std::log(static_cast<double>(std::max<std::int64_t>(elements, 1)))) / 3;
  const double walk = accumulator * 2 * std::sqrt(terms) * std::max(1.0, largest);
  const double unit = is_sum ? std::sqrt(terms) : 1.0;
  return {std::max(roundoff, accumulator) * 4 + walk, accumulator * 4 + walk * unit, kRmsShare, unit};
}

}  // namespace ktune::expr
