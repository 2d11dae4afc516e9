#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "spec/document.h"

namespace ktune::spec {

/// The one namespace of a spec: dims, parameters, attributes, enumerated values, types, tensors and scalars share it
/// with the built-in constants and functions, since expressions and arguments name them all alike.
class Names {
 public:
  /// Takes a name for something ("dim", "parameter"). Throws Error(kUsage) if it is not an identifier, is built in or
  /// is taken.
  void claim(const Text& name, const std::string& kind);
  /// The number of an enumerated name: from 1, one name one number across parameters and attributes. 0 is what an
  /// undefined macro gives, so no name has it.
  std::int64_t number(const Text& name);
  /// The number of a name given before, or 0.
  std::int64_t find_number(const std::string& name) const;

 private:
  std::map<std::string, std::string> kinds_;
  std::map<std::string, int> lines_;
  std::map<std::string, std::int64_t> numbers_;
};

/// Throws Error(kUsage) unless the text is a C identifier.
void check_identifier(const Text& name, const std::string& kind);

/// The device constants every expression may use.
const std::vector<std::string>& device_constants();

}  // namespace ktune::spec
