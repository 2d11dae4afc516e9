#pragma once

#include <vector>

#include "expr/expr.h"
#include "model/facts.h"
#include "model/op_spec.h"
#include "model/outcome.h"
#include "model/plan.h"

// From a spec, a problem, a device and a variant to plans without expressions.

namespace ktune::expr {

/// Names bound for every expression of a problem: the spec's lets; dims; attributes and every enumerated name; sm,
/// sm_count, l2_bytes, smem_optin, max_threads, registers_per_sm; sizeof_<dtype> and sizeof_<type macro>; for each
/// tensor stride_<t>_<i> (elements), offset_<t> and align_<t>: the widest access in bytes (a power of two, at most 256)
/// that its base pointer and every stride but the innermost allow (stride 0 allows anything); 1 element's size where
/// the innermost stride is not 1.
Scope problem_scope(const model::OpSpec& spec, const model::Problem& problem, const model::DeviceFacts& facts);

/// The same scope with the variant's parameters bound too.
Scope variant_scope(const Scope& problem, const model::Variant& variant);

/// The variant the spec's [default] names for this problem, canonicalised by each parameter's `when`.
/// Throws Error(kUsage) if a value is not one of the parameter's values or a constraint is broken, naming which.
model::Variant default_variant(const model::OpSpec& spec, const Scope& problem);

/// Tensors other than scratch. Throws Error(kUsage) for a size that is negative or above 2^31 − 1 elements a
/// dimension, or bytes beyond the device's memory.
std::vector<model::TensorPlan> resolve_tensors(const model::OpSpec& spec, const model::Problem& problem,
                                               const Scope& scope, const model::DeviceFacts& facts);

/// Reference launches and their inputs, seeded. least_cold_us: reads, and writes beyond L2, by the rate of the
/// memory's clock and bus width; those of a CPU say nothing.
model::ProblemPlan resolve_problem(const model::OpSpec& spec, const model::Problem& problem, const Scope& scope,
                                   const model::DeviceFacts& facts, std::uint64_t seed);

/// The launches whose `when` holds, and the scratch tensors they need. A size or an argument without a value, or one
/// that does not fit, rejects the variant (Outcome::kRejected; the reason names the expression). Throws Error(kUsage)
/// for an unknown name, and for a variant that no launch applies to: those are mistakes in the spec.
model::Result<model::VariantPlan> resolve_variant(const model::OpSpec& spec, const model::Problem& problem,
                                                  const Scope& scope, const model::Variant& variant);
/// The same for a variant that must run, such as the default: what would reject it is an Error(kUsage) that marks the
/// expression.
model::VariantPlan require_variant(const model::OpSpec& spec, const model::Problem& problem, const Scope& scope,
                                   const model::Variant& variant);

model::Cost resolve_cost(const model::OpSpec& spec, const Scope& problem);

/// Macros of a compile: parameters (PARAM=number), PARAM_<name>=constant for enumerated values, attributes likewise,
/// type macros (scalar_t=__nv_bfloat16), DIM_<name> for static dims.
model::Macros macros_of(const model::OpSpec& spec, const model::Problem& problem, const model::Variant& variant);

/// What an op accumulates in: f64 for a problem whose first type (or, without types, every tensor) is f64, else f32.
model::DType accumulator_of(const model::OpSpec& spec, const model::Problem& problem);

/// Accepted difference of an output: the spec's own, else from its dtype, the accumulator's, the reduction length n and
/// the number m of its elements: rtol = max(u(dtype), u(acc))·4 + w; atol = 4·u(acc) + w for outputs of root mean
/// square 1, and 4·u(acc) + w·sqrt(n) for an output that is itself a sum of n values of order one (its own is sqrt(n)),
/// with w = u(acc)·2·sqrt(n)·g, g = max(1, sqrt(2·ln m) / 3): the largest of m normal errors grows as sqrt(2·ln m)
/// (extreme value theory). The root mean square does not grow: kRmsShare of that. Integers: exact.
model::Tolerance tolerance_of(const model::OpSpec& spec, const model::TensorSpec& tensor, model::DType dtype,
                              model::DType accumulator, std::int64_t reduction_length, std::int64_t elements);
/// Rounding to the output's type makes 0.1 of it: an error that is uniform up to u, over the 4 u that are allowed. Each
/// of 32,000 right verifications on an H200 stayed within it, and results/mutants.md says what does not.
inline constexpr double kRmsShare = 0.35;

}  // namespace ktune::expr
