#include "expr/layout.h"

#include <limits>

#include "base/error.h"
#include "expr/arithmetic.h"
#include "expr/excerpt.h"

namespace ktune::expr {
namespace {

constexpr std::int64_t kMostElements = std::numeric_limits<std::int32_t>::max();  // a dimension

template <typename T>
const T* find(const std::vector<std::pair<std::string, T>>& entries, const std::string& name) {
  for (const auto& [key, value] : entries) {
    if (key == name) return &value;
  }
  return nullptr;
}

/// The storage in elements, or −1 when its bytes pass 2^53.
std::int64_t checked_storage(const Layout& layout) {
  std::int64_t last = layout.offset;
  for (std::size_t i = 0; i < layout.shape.size(); ++i) {
    if (layout.shape[i] == 0) return 0;
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(layout.shape[i] - 1, layout.strides[i], &reach)) return -1;
    if (__builtin_add_overflow(last, reach, &last)) return -1;
  }
  std::int64_t bytes = 0;
  if (__builtin_add_overflow(last, 1, &last)) return -1;
  if (__builtin_mul_overflow(last, static_cast<std::int64_t>(size_of(layout.dtype)), &bytes)) return -1;
  return bytes > kLargest ? -1 : last;
}

}  // namespace

model::DType dtype_of(const model::Problem& problem, const std::string& type) {
  const std::string* bound = find(problem.types, type);
  const auto dtype = model::parse_dtype(bound != nullptr ? *bound : type);
  if (!dtype) {
    throw Error(ErrorKind::kUsage, bound == nullptr ? "the problem binds no dtype to '" + type + "'"
                                                    : "'" + *bound + "' (" + type + ") is not a dtype");
  }
  return *dtype;
}

Layout layout_of(const model::TensorSpec& tensor, const model::Problem& problem, const Scope& scope) {
  Layout layout;
  layout.name = tensor.name;
  layout.dtype = dtype_of(problem, tensor.type);
  for (const model::Expression& size : tensor.shape) {
    layout.shape.push_back(evaluate(size, scope));
    if (layout.shape.back() < 0 || layout.shape.back() > kMostElements) {
      fail_at(size, 0, static_cast<int>(size.text.size()),
              "tensor '" + tensor.name + "': a size of " + std::to_string(layout.shape.back()) + " is " +
                  (layout.shape.back() < 0 ? "negative" : "beyond 2^31 - 1 elements"));
    }
  }
  const auto* strides = find(problem.strides, tensor.name);
  if (strides != nullptr) {
    layout.strides = *strides;
  } else {
    for (const model::Expression& stride : tensor.strides) layout.strides.push_back(evaluate(stride, scope));
  }
  if (layout.strides.size() != layout.shape.size()) {
    throw Error(ErrorKind::kUsage,
                "tensor '" + tensor.name + "' has " + std::to_string(layout.shape.size()) + " dimensions and " +
                    std::to_string(layout.strides.size()) + " strides",
                {}, excerpt(tensor.at));
  }
  for (const std::int64_t stride : layout.strides) {
    if (stride < 0) {
      throw Error(ErrorKind::kUsage,
                  "tensor '" + tensor.name + "': a stride of " + std::to_string(stride) + " is negative", {},
                  excerpt(tensor.at));
    }
  }
  const auto* offset = find(problem.offsets, tensor.name);
  if (offset != nullptr) layout.offset = *offset;
  if (layout.offset < 0) {
    throw Error(ErrorKind::kUsage, "tensor '" + tensor.name + "': a negative offset", {}, excerpt(tensor.at));
  }
  if (checked_storage(layout) < 0) {
    throw Error(ErrorKind::kUsage, "tensor '" + tensor.name + "' reaches beyond 2^53 bytes", "use smaller sizes",
                excerpt(tensor.at));
  }
  return layout;
}

std::int64_t storage_elements(const Layout& layout) { return checked_storage(layout); }

model::TensorPlan tensor_plan(const model::TensorSpec& tensor, const model::Problem& problem, const Scope& scope) {
  const Layout layout = layout_of(tensor, problem, scope);
  model::TensorPlan plan;
  plan.name = tensor.name;
  plan.role = tensor.role;
  plan.dtype = layout.dtype;
  plan.shape = layout.shape;
  plan.strides = layout.strides;
  plan.offset = layout.offset;
  plan.storage = storage_elements(layout);
  const auto* init = find(problem.inits, tensor.name);
  plan.init = init != nullptr ? *init : tensor.init;
  return plan;
}

}  // namespace ktune::expr
