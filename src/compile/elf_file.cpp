#include "compile/elf_file.h"

namespace ktune::compile {

std::optional<std::string_view> slice(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || bytes.size() - at < size) return std::nullopt;
  return bytes.substr(at, size);
}

std::optional<std::string_view> string_at(std::string_view table, std::uint64_t at) {
  if (at >= table.size()) return std::nullopt;
  const std::size_t end = table.find('\0', at);
  if (end == std::string_view::npos) return std::nullopt;
  return table.substr(at, end - at);
}

std::optional<ElfFile> read_elf(std::string_view file) {
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_shentsize != sizeof(Elf64_Shdr))
    return std::nullopt;
  ElfFile elf{*header, {}};
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = read_at<Elf64_Shdr>(file, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return std::nullopt;
    ElfSection& read = elf.sections.emplace_back();
    read.header = *section;
    if (section->sh_type == SHT_NOBITS || section->sh_type == SHT_NULL) continue;
    const auto bytes = slice(file, section->sh_offset, section->sh_size);
    if (!bytes) return std::nullopt;
    read.bytes = *bytes;
  }
  if (header->e_shstrndx >= elf.sections.size()) return std::nullopt;
  const std::string_view names = elf.sections[header->e_shstrndx].bytes;
  for (ElfSection& section : elf.sections) {
    const auto name = string_at(names, section.header.sh_name);
    if (!name) return std::nullopt;
    section.name = *name;
  }
  return elf;
}

}  // namespace ktune::compile
