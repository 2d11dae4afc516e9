#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

// Reading an ELF file that may be damaged: every offset is checked.

namespace ktune::compile {

template <typename T>
std::optional<T> read_at(std::string_view bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

inline std::optional<std::string_view> slice(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || bytes.size() - at < size) return std::nullopt;
  return bytes.substr(at, size);
}

/// The zero-terminated string at `at` of a string table; nothing when it has no end.
inline std::optional<std::string_view> string_at(std::string_view table, std::uint64_t at) {
  if (at >= table.size()) return std::nullopt;
  const std::size_t end = table.find('\0', at);
  if (end == std::string_view::npos) return std::nullopt;
  return table.substr(at, end - at);
}

}  // namespace ktune::compile
