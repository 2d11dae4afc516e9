#include <algorithm>

#include "base/error.h"
#include "expr/layout.h"
#include "expr/resolve.h"

namespace ktune::expr {
namespace {

constexpr std::int64_t kWidestAlignment = 256;  // bytes; what an allocation's base has at the least

void bind_names(Scope& scope, const std::vector<model::Value>& values) {
  for (const model::Value& value : values) {
    if (!value.name.empty()) scope.set(value.name, value.number);
  }
}

void bind_device(Scope& scope, const model::DeviceFacts& facts) {
  scope.set("sm", facts.sm);
  scope.set("sm_count", facts.sm_count);
  scope.set("l2_bytes", facts.l2_bytes);
  scope.set("smem_optin", facts.smem_optin);
  scope.set("max_threads", facts.max_threads);
  scope.set("registers_per_sm", facts.registers_per_sm);
}

void bind_tensor(Scope& scope, const Layout& layout) {
  for (std::size_t i = 0; i < layout.strides.size(); ++i) {
    scope.set("stride_" + layout.name + "_" + std::to_string(i), layout.strides[i]);
  }
  scope.set("offset_" + layout.name, layout.offset);
  scope.set("align_" + layout.name, alignment_bytes(layout));
}

}  // namespace

std::int64_t alignment_bytes(const Layout& layout) {
  const std::int64_t element = size_of(layout.dtype);
  if (!layout.strides.empty() && layout.strides.back() != 1) return element;
  std::int64_t alignment = kWidestAlignment;
  const auto limit = [&](std::int64_t elements) {
    // The lowest set bit of the byte count is its alignment; of 0 it is everything. Unsigned: a stride that is never
    // used (one row) may be any number.
    const std::uint64_t bytes = static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(element);
    const std::uint64_t lowest = bytes & (~bytes + 1);
    if (lowest != 0 && lowest < static_cast<std::uint64_t>(kWidestAlignment)) {
      alignment = std::min(alignment, static_cast<std::int64_t>(lowest));
    }
  };
  limit(layout.offset);
  for (std::size_t i = 0; i + 1 < layout.strides.size(); ++i) limit(layout.strides[i]);
  return alignment;
}

Scope problem_scope(const model::OpSpec& spec, const model::Problem& problem, const model::DeviceFacts& facts) {
  Scope scope;
  if (!spec.lets.empty()) scope.set_lets(spec.lets);
  bind_device(scope, facts);
  for (const model::DType dtype : model::all_dtypes()) {
    scope.set("sizeof_" + std::string(name_of(dtype)), size_of(dtype));
  }
  for (const model::TypeParam& type : spec.types)
    scope.set("sizeof_" + type.name, size_of(dtype_of(problem, type.name)));
  for (const model::Parameter& parameter : spec.params) {
    bind_names(scope, parameter.all_values());
    bind_names(scope, {parameter.otherwise});
  }
  for (const model::Attribute& attribute : spec.attrs) bind_names(scope, attribute.values);
  for (const auto& [name, size] : problem.dims) scope.set(name, size);
  for (const auto& [name, value] : problem.attrs) scope.set(name, value.number);
  // Shapes and strides use what is bound so far; only then can their alignments be names themselves.
  std::vector<Layout> layouts;
  for (const model::TensorSpec& tensor : spec.tensors) {
    if (tensor.role != model::Role::kScratch) layouts.push_back(layout_of(tensor, problem, scope));
  }
  for (const Layout& layout : layouts) bind_tensor(scope, layout);
  return scope;
}

Scope variant_scope(const Scope& problem, const model::Variant& variant) {
  Scope scope = problem;
  for (const auto& [name, value] : variant.values) scope.set(name, value.number);
  return scope;
}

}  // namespace ktune::expr
