#include "verify/plan_check.h"

#include <fmt/format.h>

#include <set>
#include <string>

namespace ktune::verify {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 44;

/// What is wrong with a tensor, or nothing.
std::string contradiction(const model::TensorPlan& plan) {
  if (plan.shape.size() != plan.strides.size()) {
    return fmt::format("has {} sizes and {} strides", plan.shape.size(), plan.strides.size());
  }
  if (plan.offset < 0 || plan.offset > kMostElements) return fmt::format("has the offset {}", plan.offset);
  std::int64_t last = plan.offset;
  for (std::size_t i = 0; i < plan.shape.size(); ++i) {
    if (plan.shape[i] < 1 || plan.shape[i] > kMostElements) return fmt::format("has a size of {}", plan.shape[i]);
    if (plan.strides[i] < 0) return fmt::format("has a stride of {}", plan.strides[i]);
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(plan.shape[i] - 1, plan.strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last) || last >= kMostElements) {
      return "is beyond any memory";
    }
  }
  if (plan.storage > kMostElements) return "is beyond any memory";
  if (plan.storage <= last) {
    return fmt::format("has storage for {} elements and reaches element {}", plan.storage, last);
  }
  return "";
}

}  // namespace

model::Status check_tensors(const std::vector<model::TensorPlan>& tensors) {
  std::set<std::string> names;
  for (const model::TensorPlan& plan : tensors) {
    std::string wrong = contradiction(plan);
    if (wrong.empty() && !names.insert(plan.name).second) wrong = "is there twice";
    if (!wrong.empty()) return model::fail(model::Outcome::kRejected, fmt::format("tensor {} {}", plan.name, wrong));
  }
  return {};
}

}  // namespace ktune::verify
