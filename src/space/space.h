#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "expr/expr.h"
#include "model/op_spec.h"

namespace ktune::space {

/// The valid variants of one problem and an account of the rest.
struct Space {
  std::vector<model::Variant> variants;          ///< in the parameters' order, last axis fastest
  std::int64_t enumerated = 0;                   ///< points of the raw product
  std::map<std::string, std::int64_t> rejected;  ///< points by the `why` of the first constraint they break;
                                                 ///< kDuplicate for points that a `when` makes equal to another
  // enumerated == variants.size() + Σ rejected
};

inline constexpr const char* kDuplicate = "same variant as another (a parameter that does not apply there)";

/// Walks the space depth first; each constraint is applied as soon as its names are bound and a pruned subtree is
/// counted, not walked. `problem` is expr::problem_scope. Throws Error(kUsage) for expression errors.
Space enumerate(const model::OpSpec& spec, const expr::Scope& problem);

/// Why a variant is not in the space: the constraint's expression and `why` with the values put in, or nothing when
/// it is valid.
std::optional<std::string> explain(const model::OpSpec& spec, const expr::Scope& problem,
                                   const model::Variant& variant);

}  // namespace ktune::space
