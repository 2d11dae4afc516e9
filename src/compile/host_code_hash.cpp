#include "compile/host_code_hash.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "compile/elf_bytes.h"

// The instrumentation that the CPU device is compiled with keeps, beside each pointer to a source's name in .data, the
// line and the column of an access. They move with a comment above it and are no part of what runs: they count as 0.

namespace ktune::compile {

namespace {

struct HostSection {
  std::string name;
  Elf64_Shdr header{};
  std::string bytes;  ///< empty for NOBITS
};

std::optional<std::vector<HostSection>> loaded_sections(std::string_view object) {
  const auto header = read_at<Elf64_Ehdr>(object, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_type != ET_DYN || header->e_shentsize != sizeof(Elf64_Shdr))
    return std::nullopt;
  const auto header_at = [&](std::uint64_t i) {
    return read_at<Elf64_Shdr>(object, header->e_shoff + i * sizeof(Elf64_Shdr));
  };
  const auto names = header_at(header->e_shstrndx);
  const auto table = names ? slice(object, names->sh_offset, names->sh_size) : std::nullopt;
  if (!table) return std::nullopt;
  std::vector<HostSection> sections;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = header_at(i);
    const auto name = section ? string_at(*table, section->sh_name) : std::nullopt;
    if (!name) return std::nullopt;
    if ((section->sh_flags & SHF_ALLOC) == 0 || section->sh_type == SHT_NOTE) continue;
    const auto bytes =
        section->sh_type == SHT_NOBITS ? std::string_view() : slice(object, section->sh_offset, section->sh_size);
    if (!bytes) return std::nullopt;
    sections.push_back({std::string(*name), *section, std::string(*bytes)});
  }
  return sections;
}

/// The bytes from an address on, to the end of their section; nothing where none are loaded.
std::optional<std::string_view> bytes_at(const std::vector<HostSection>& sections, std::uint64_t address) {
  for (const HostSection& section : sections)
    if (address >= section.header.sh_addr && address - section.header.sh_addr < section.bytes.size())
      return std::string_view(section.bytes).substr(address - section.header.sh_addr);
  return std::nullopt;
}

bool names_a_source(std::string_view text) {
  for (const char* ending : {".cu", ".cuh", ".h", ".cpp"})
    if (text.ends_with(ending)) return true;
  return false;
}

void forget_places(std::vector<HostSection>& sections) {
  constexpr std::size_t kPointer = 8, kPlace = 8;  // line and column, four bytes each
  std::string relocations;
  for (const HostSection& section : sections)
    if (section.name == ".rela.dyn") relocations = section.bytes;
  for (std::size_t at = 0; const auto entry = read_at<Elf64_Rela>(relocations, at); at += sizeof(Elf64_Rela)) {
    const auto text = bytes_at(sections, static_cast<std::uint64_t>(entry->r_addend));
    const auto name = text ? string_at(*text, 0) : std::nullopt;
    if (!name || !names_a_source(*name)) continue;
    for (HostSection& section : sections) {
      const std::uint64_t from = entry->r_offset - section.header.sh_addr + kPointer;
      if (section.name == ".data" && entry->r_offset >= section.header.sh_addr && from + kPlace <= section.bytes.size())
        section.bytes.replace(from, kPlace, kPlace, '\0');
    }
  }
}

}  // namespace

std::string host_code_hash(std::string_view object) {
  auto sections = loaded_sections(object);
  if (!sections) return "";
  forget_places(*sections);
  FieldHasher hasher;
  bool has_code = false;
  for (const HostSection& section : *sections) {
    hasher.add("section", section.name);
    hasher.add("size", std::to_string(section.header.sh_size));
    hasher.add("content", section.bytes);
    has_code = has_code || (section.name == ".text" && !section.bytes.empty());
  }
  return has_code ? hasher.hex() : "";
}

}  // namespace ktune::compile
