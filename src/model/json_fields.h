#pragma once

#include "model/json.h"

// Reading one field of a value: missing or null keeps what the value had; a null double is NaN.

namespace ktune::model {

/// The field, or nothing where it is missing or null.
inline const Json* find(const Json& json, const char* name) {
  auto it = json.find(name);
  return it == json.end() || it->is_null() ? nullptr : &*it;
}

template <typename T>
void read(const Json& json, const char* name, T& value) {
  if (const Json* field = find(json, name)) field->get_to(value);
}

inline void read(const Json& json, const char* name, double& value) {
  if (auto it = json.find(name); it != json.end()) value = number_from(*it);
}

}  // namespace ktune::model
