#include "spec/naming.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/arithmetic.h"
#include "expr/parser.h"
#include "model/dtype.h"

namespace ktune::spec {
namespace {

bool is_identifier(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && name.size() <= 60 && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

/// Why nobody may take this name; "" when it is free.
std::string reserved(const std::string& name) {
  const auto& constants = device_constants();
  if (std::find(constants.begin(), constants.end(), name) != constants.end()) return "is a built-in constant";
  if (expr::find_function(name) != nullptr) return "is a built-in function";
  if (expr::is_operator_word(name)) return "is an operator";
  if (model::parse_dtype(name)) return "is a dtype";
  for (const char* prefix : {"sizeof_", "stride_", "offset_", "align_"}) {
    if (name.starts_with(prefix)) return fmt::format("begins with '{}', which is kept for built-in constants", prefix);
  }
  return "";
}

}  // namespace

const std::vector<std::string>& device_constants() {
  static const std::vector<std::string> names{"sm",         "sm_count",    "l2_bytes",
                                              "smem_optin", "max_threads", "registers_per_sm"};
  return names;
}

void check_identifier(const Text& name, const std::string& kind) {
  if (is_identifier(name.text)) return;
  fail(name, fmt::format("'{}' cannot name a {}", name.text, kind),
       "a name is made of letters, digits and '_', at most 60, and does not begin with a digit");
}

void Names::claim(const Text& name, const std::string& kind) {
  check_identifier(name, kind);
  if (const std::string why = reserved(name.text); !why.empty()) {
    fail(name, fmt::format("'{}' cannot name a {}: it {}", name.text, kind, why));
  }
  const auto [taken, is_new] = kinds_.emplace(name.text, kind);
  if (!is_new) {
    fail(name, fmt::format("'{}' is used twice: for a {} in line {} and for a {} here", name.text, taken->second,
                           lines_[name.text], kind));
  }
  lines_[name.text] = name.at.line;
}

std::int64_t Names::number(const Text& name) {
  if (const std::int64_t known = find_number(name.text); known != 0) return known;
  claim(name, "value");
  const auto next = static_cast<std::int64_t>(numbers_.size()) + 1;
  numbers_[name.text] = next;
  return next;
}

std::int64_t Names::find_number(const std::string& name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? 0 : found->second;
}

}  // namespace ktune::spec
