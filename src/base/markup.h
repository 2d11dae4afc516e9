#pragma once

#include <string_view>

namespace ktune {

/// What stands for a character that HTML and XML read as markup; "" for every other.
constexpr std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    default:
      return "";
  }
}

}  // namespace ktune
