#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "expr/expr.h"
#include "model/op_spec.h"
#include "model/plan.h"

// Where the elements of a tensor lie, checked before anything is allocated or multiplied.

namespace ktune::expr {

/// A tensor's geometry with every expression evaluated.
struct Layout {
  std::string name;
  model::DType dtype = model::DType::kF32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< elements, ≥ 0
  std::int64_t offset = 0;            ///< elements
};

/// The dtype a problem binds to a type macro, or the dtype of that name. Throws Error(kUsage) when it is neither.
model::DType dtype_of(const model::Problem& problem, const std::string& type);

/// Evaluates shape and strides (the problem's override first). Throws Error(kUsage), marking the shape, for a size
/// that is negative or above 2^31 − 1, a negative stride, or elements beyond 2^63 bytes from the base.
Layout layout_of(const model::TensorSpec& tensor, const model::Problem& problem, const Scope& scope);
/// The same as a value: of a scratch tensor, which a variant may size.
tl::expected<Layout, Rejection> try_layout(const model::TensorSpec& tensor, const model::Problem& problem,
                                           const Scope& scope);

/// Elements from the base to the last one addressed, offset included; 0 for a tensor without elements.
std::int64_t storage_elements(const Layout& layout);

/// The widest access in bytes, a power of two of at most 256 (see problem_scope).
std::int64_t alignment_bytes(const Layout& layout);

/// The plan of a tensor, without tolerance.
model::TensorPlan tensor_plan(const model::TensorSpec& tensor, const model::Problem& problem, const Layout& layout);

}  // namespace ktune::expr
