#include "compile/host_code_hash.h"

#include <string>
#include <string_view>

#include "base/hash.h"
#include "compile/elf_file.h"

// The instrumentation that the CPU device is compiled with keeps, beside each pointer to a source's name in .data, the
// line and the column of an access. They move with a comment above it and are no part of what runs: they count as 0.

namespace ktune::compile {

namespace {

bool is_loaded(const ElfSection& section) {
  return (section.header.sh_flags & SHF_ALLOC) != 0 && section.header.sh_type != SHT_NOTE;
}

/// Whether the text at an address names a source.
bool is_source_name(const ElfFile& elf, std::uint64_t address) {
  for (const ElfSection& section : elf.sections) {
    if (!is_loaded(section) || address < section.header.sh_addr) continue;
    const auto text = string_at(section.bytes, address - section.header.sh_addr);
    if (!text) continue;
    for (const char* ending : {".cu", ".cuh", ".h", ".cpp"})
      if (text->ends_with(ending)) return true;
  }
  return false;
}

std::string without_places(const ElfFile& elf, const ElfSection& data) {
  constexpr std::size_t kPointer = 8, kPlace = 8;  // line and column, four bytes each
  std::string bytes(data.bytes);
  for (const ElfSection& section : elf.sections) {
    if (section.name != ".rela.dyn") continue;
    for (std::size_t at = 0; const auto entry = read_at<Elf64_Rela>(section.bytes, at); at += sizeof(Elf64_Rela)) {
      if (entry->r_offset < data.header.sh_addr) continue;
      const std::uint64_t from = entry->r_offset - data.header.sh_addr + kPointer;
      if (from + kPlace <= bytes.size() && is_source_name(elf, static_cast<std::uint64_t>(entry->r_addend)))
        bytes.replace(from, kPlace, kPlace, '\0');
    }
  }
  return bytes;
}

}  // namespace

std::string host_code_hash(std::string_view object) {
  const auto elf = read_elf(object);
  if (!elf || elf->header.e_type != ET_DYN) return "";
  FieldHasher hasher;
  bool has_code = false;
  for (const ElfSection& section : elf->sections) {
    if (!is_loaded(section)) continue;
    hasher.add("section", section.name);
    hasher.add("size", std::to_string(section.header.sh_size));
    hasher.add("content", section.name == ".data" ? without_places(*elf, section) : std::string(section.bytes));
    has_code = has_code || (section.name == ".text" && !section.bytes.empty());
  }
  return has_code ? hasher.hex() : "";
}

}  // namespace ktune::compile
