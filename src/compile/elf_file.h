#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

// Reading a 64-bit ELF file that may be damaged: every offset is checked. Views are into the file's bytes.

namespace ktune::compile {

template <typename T>
std::optional<T> read_at(std::string_view bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

std::optional<std::string_view> slice(std::string_view bytes, std::uint64_t at, std::uint64_t size);

/// The zero-terminated string at `at` of a string table; nothing when it has no end.
std::optional<std::string_view> string_at(std::string_view table, std::uint64_t at);

struct ElfSection {
  std::string_view name;
  Elf64_Shdr header{};
  std::string_view bytes;  ///< empty for NOBITS
};

struct ElfFile {
  Elf64_Ehdr header{};
  std::vector<ElfSection> sections;
};

/// Nothing where the bytes are no little-endian 64-bit ELF file, or end too early.
std::optional<ElfFile> read_elf(std::string_view file);

}  // namespace ktune::compile
