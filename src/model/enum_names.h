#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"

// An enumeration's names: one table, read in both directions.

namespace ktune::model {

template <typename Enum, std::size_t n>
using Names = std::array<std::pair<Enum, std::string_view>, n>;

template <typename Enum, std::size_t n>
std::string_view find_name(const Names<Enum, n>& names, Enum value) {
  for (const auto& [key, name] : names) {
    if (key == value) return name;
  }
  bug("an enumerator without a name", __FILE__, __LINE__);
}

template <typename Enum, std::size_t n>
std::optional<Enum> find_value(const Names<Enum, n>& names, std::string_view wanted) {
  for (const auto& [key, name] : names) {
    if (name == wanted) return key;
  }
  return std::nullopt;
}

}  // namespace ktune::model
