#include "spec/problem_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "model/dtype.h"
#include "spec/sections.h"

namespace ktune::spec {
namespace {

constexpr std::int64_t kMostElements = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kFarthest = std::int64_t{1} << 50;  // elements: beyond any memory

[[noreturn]] void unknown(const model::OpSpec& spec, const std::string& what, const std::string& name,
                          const std::vector<std::string>& known) {
  throw Error(ErrorKind::kUsage, fmt::format("{} has no {} '{}'{}", spec.name, what, name, did_you_mean(name, known)),
              known.empty() ? "" : fmt::format("{}s: {}", what, join(known, ", ")));
}

const model::TensorSpec& operand(const model::OpSpec& spec, const std::string& name) {
  std::vector<std::string> known;
  for (const model::TensorSpec& tensor : spec.tensors) {
    if (tensor.role == model::Role::kScratch) continue;
    if (tensor.name == name) return tensor;
    known.push_back(tensor.name);
  }
  unknown(spec, "tensor", name, known);
}

/// Everything a type macro may be bound to: what it lists, and the dtypes of the macros it lists.
std::vector<std::string> choices(const model::OpSpec& spec, const model::TypeParam& type) {
  std::vector<std::string> result = type.values;
  for (const std::string& value : type.values) {
    if (const model::TypeParam* earlier = find_named(spec.types, value)) {
      for (const std::string& choice : choices(spec, *earlier)) result.push_back(choice);
    }
  }
  return result;
}

}  // namespace

void check_dim(const model::OpSpec& spec, const std::string& name, std::int64_t size) {
  if (std::find(spec.dims.begin(), spec.dims.end(), name) == spec.dims.end()) unknown(spec, "dim", name, spec.dims);
  if (size < 1) throw Error(ErrorKind::kUsage, fmt::format("{} = {}: a size is at least 1", name, size));
  if (size > kMostElements) {
    throw Error(ErrorKind::kUsage, fmt::format("{} = {}: a size is at most 2^31 - 1", name, size));
  }
}

void check_type_binding(const model::OpSpec& spec, const std::string& name, const std::string& value) {
  const model::TypeParam* type = find_named(spec.types, name);
  if (type == nullptr) unknown(spec, "type", name, names_of(spec.types));
  const std::vector<std::string> known = choices(spec, *type);
  if (std::find(known.begin(), known.end(), value) != known.end()) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("{} does not offer '{}' for {}{}", spec.name, value, name, did_you_mean(value, known)),
              fmt::format("{}: {}", name, join(type->values, ", ")));
}

model::Value attribute_value(const model::OpSpec& spec, const std::string& name, const std::string& text) {
  const model::Attribute* attribute = find_named(spec.attrs, name);
  if (attribute == nullptr) unknown(spec, "attribute", name, names_of(spec.attrs));
  std::vector<std::string> known;
  for (const model::Value& value : attribute->values) {
    if (value.text() == text) return value;
    known.push_back(value.text());
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("'{}' is not a value of attribute '{}'{}", text, name, did_you_mean(text, known)),
              fmt::format("values: {}", join(known, ", ")));
}

void check_strides(const model::OpSpec& spec, const std::string& tensor, const std::vector<std::int64_t>& strides) {
  const model::TensorSpec& found = operand(spec, tensor);
  if (strides.size() != found.shape.size()) {
    throw Error(ErrorKind::kUsage, fmt::format("tensor '{}' has {} dimensions, not {} strides", tensor,
                                               found.shape.size(), strides.size()));
  }
  for (const std::int64_t stride : strides) {
    if (stride < 0 || stride > kFarthest) {
      throw Error(ErrorKind::kUsage, fmt::format("tensor '{}': a stride of {} is {}", tensor, stride,
                                                 stride < 0 ? "negative" : "beyond 2^50"));
    }
    if (stride == 0 && found.role != model::Role::kIn) {
      throw Error(ErrorKind::kUsage, fmt::format("tensor '{}' is written: its strides are not 0", tensor));
    }
  }
}

void check_offset(const model::OpSpec& spec, const std::string& tensor, std::int64_t offset) {
  operand(spec, tensor);
  if (offset < 0 || offset > kFarthest) {
    throw Error(ErrorKind::kUsage, fmt::format("tensor '{}': an offset of {} is {}", tensor, offset,
                                               offset < 0 ? "negative" : "beyond 2^50"));
  }
}

void check_init(const model::OpSpec& spec, const std::string& tensor) {
  const model::TensorSpec& found = operand(spec, tensor);
  if (found.role == model::Role::kOut) {
    throw Error(ErrorKind::kUsage, fmt::format("tensor '{}' is an output: it has no initial values", tensor));
  }
}

void check_scalar(const model::OpSpec& spec, const std::string& name) {
  if (find_named(spec.scalars, name) == nullptr) unknown(spec, "scalar", name, names_of(spec.scalars));
}

}  // namespace ktune::spec
