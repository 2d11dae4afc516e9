#pragma once

#include <string>
#include <vector>

#include "model/op_spec.h"

// The parts of a problem, each checked against the op. They throw Error(kUsage) without a place: the reader of a spec
// adds it (located.h), the command line has none.

namespace ktune::spec {

void check_dim(const model::OpSpec& spec, const std::string& name, std::int64_t size);
/// `value`: a dtype, or an earlier type macro where the spec lists that.
void check_type_binding(const model::OpSpec& spec, const std::string& name, const std::string& value);
/// The attribute's value spelled so (a name or an integer).
model::Value attribute_value(const model::OpSpec& spec, const std::string& name, const std::string& text);
void check_strides(const model::OpSpec& spec, const std::string& tensor, const std::vector<std::int64_t>& strides);
void check_offset(const model::OpSpec& spec, const std::string& tensor, std::int64_t offset);
void check_init(const model::OpSpec& spec, const std::string& tensor);
void check_scalar(const model::OpSpec& spec, const std::string& name);

/// Replaces or appends an entry.
template <typename T>
void assign(std::vector<std::pair<std::string, T>>& entries, const std::string& name, T value) {
  for (auto& [key, old] : entries) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  entries.emplace_back(name, std::move(value));
}

/// The entry of that name, or null.
template <typename T>
const T* find_entry(const std::vector<std::pair<std::string, T>>& entries, const std::string& name) {
  for (const auto& [key, value] : entries) {
    if (key == name) return &value;
  }
  return nullptr;
}

}  // namespace ktune::spec
