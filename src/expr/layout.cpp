#include "expr/layout.h"

#include <limits>

#include "base/error.h"
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

/// The storage in elements, or −1 when its bytes pass 2^63.
std::int64_t checked_storage(const Layout& layout) {
  std::int64_t last = layout.offset;
  for (std::size_t i = 0; i < layout.shape.size(); ++i) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(layout.shape[i] - 1, layout.strides[i], &reach)) return -1;
    if (__builtin_add_overflow(last, reach, &last)) return -1;
  }
  std::int64_t bytes = 0;
  if (__builtin_add_overflow(last, 1, &last)) return -1;
  if (__builtin_mul_overflow(last, static_cast<std::int64_t>(size_of(layout.dtype)), &bytes)) return -1;
  return last;
}

Rejection rejection(const model::TensorSpec& tensor, const std::string& what, const model::Expression& expression,
                    const Scope& scope) {
  return {"tensor '" + tensor.name + "': " + what + " in '" + expression.text + "'", values_in(expression, scope),
          expression};
}

/// The strides a problem gives or the spec's; negative ones are refused.
tl::expected<std::vector<std::int64_t>, Rejection> strides_of(const model::TensorSpec& tensor,
                                                              const model::Problem& problem, const Scope& scope) {
  std::vector<std::int64_t> strides;
  if (const auto* given = find(problem.strides, tensor.name)) {
    strides = *given;
    for (const std::int64_t stride : strides) {
      if (stride >= 0) continue;
      throw Error(ErrorKind::kUsage,
                  "tensor '" + tensor.name + "': a stride of " + std::to_string(stride) + " is negative", {},
                  excerpt(tensor.at));
    }
  } else {
    for (const model::Expression& expression : tensor.strides) {
      const auto stride = try_evaluate(expression, scope);
      if (!stride) return tl::unexpected(stride.error());
      if (*stride < 0) return tl::unexpected(rejection(tensor, "a negative stride", expression, scope));
      strides.push_back(*stride);
    }
  }
  if (strides.size() == tensor.shape.size()) return strides;
  throw Error(ErrorKind::kUsage,
              "tensor '" + tensor.name + "' has " + std::to_string(tensor.shape.size()) + " dimensions and " +
                  std::to_string(strides.size()) + " strides",
              {}, excerpt(tensor.at));
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

tl::expected<Layout, Rejection> try_layout(const model::TensorSpec& tensor, const model::Problem& problem,
                                           const Scope& scope) {
  Layout layout;
  layout.name = tensor.name;
  layout.dtype = dtype_of(problem, tensor.type);
  for (const model::Expression& expression : tensor.shape) {
    const auto size = try_evaluate(expression, scope);
    if (!size) return tl::unexpected(size.error());
    if (*size < 1) return tl::unexpected(rejection(tensor, "a size below 1", expression, scope));
    if (*size > kMostElements) {
      return tl::unexpected(rejection(tensor, "a size beyond 2^31 - 1", expression, scope));
    }
    layout.shape.push_back(*size);
  }
  auto strides = strides_of(tensor, problem, scope);
  if (!strides) return tl::unexpected(strides.error());
  layout.strides = std::move(*strides);
  const auto* offset = find(problem.offsets, tensor.name);
  if (offset != nullptr) layout.offset = *offset;
  if (layout.offset < 0) {
    throw Error(ErrorKind::kUsage, "tensor '" + tensor.name + "': a negative offset", {}, excerpt(tensor.at));
  }
  if (checked_storage(layout) < 0) {
    const model::Expression place{{}, tensor.at};
    return tl::unexpected(Rejection{"tensor '" + tensor.name + "' reaches beyond 2^63 bytes", {}, place});
  }
  return layout;
}

Layout layout_of(const model::TensorSpec& tensor, const model::Problem& problem, const Scope& scope) {
  auto layout = try_layout(tensor, problem, scope);
  if (!layout) layout.error().raise();
  return std::move(*layout);
}

std::int64_t storage_elements(const Layout& layout) { return checked_storage(layout); }

model::TensorPlan tensor_plan(const model::TensorSpec& tensor, const model::Problem& problem, const Layout& layout) {
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
