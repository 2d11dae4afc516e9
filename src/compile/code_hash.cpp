#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "compile/compile.h"
#include "compile/elf_file.h"
#include "compile/host_code_hash.h"
#include "compile/nvrtc_compiler.h"

// A cubin is a 64-bit ELF file. What decides how it runs lies in its sections: .text.KERNEL (on sm_80 the registers are
// in that section's header), .nv.info* (registers, stack, parameters, launch bounds), .nv.constant*, .nv.global*,
// .nv.shared* (a size only) and the relocations between them. All sections are hashed but those known not to matter,
// so that a kind of section that a newer compiler adds counts. Not hashed: symbol and string tables, notes (they name
// the compiler), debug sections, and .nv.merc.*, which says the same once more for the finalizer of sm_100 and later.
//
// Where a section names a symbol by its number (relocations, some attributes of .nv.info, the call graph), the symbol's
// place is hashed instead: the number shifts with -lineinfo, and without the place two symbols could change roles
// unseen.

namespace ktune::compile {
namespace {

constexpr std::uint16_t kMachineCuda = 190;  // EM_CUDA

std::string number(std::uint64_t value) { return std::to_string(value); }

/// A cubin's sections and symbols, every offset checked.
class Cubin {
 public:
  static std::optional<Cubin> parse(std::string_view file) {
    auto elf = read_elf(file);
    if (!elf || elf->header.e_machine != kMachineCuda) return std::nullopt;
    Cubin cubin;
    cubin.header_ = elf->header;
    cubin.sections_ = std::move(elf->sections);
    if (!cubin.read_symbols()) return std::nullopt;
    return cubin;
  }

  std::string hash() const {
    FieldHasher hasher;
    hasher.add("flags", number(header_.e_flags));  // architecture
    hasher.add("abi", number(header_.e_ident[EI_ABIVERSION]));
    std::vector<std::pair<std::string_view, std::string>> parts;
    for (const ElfSection& section : sections_)
      if (matters(section)) parts.emplace_back(section.name, part_of(section));
    std::sort(parts.begin(), parts.end());
    for (const auto& [name, part] : parts) {
      hasher.add("section", name);
      hasher.add("content", part);
    }
    return hasher.hex();
  }

  bool has_code() const {
    return std::any_of(sections_.begin(), sections_.end(), [](const ElfSection& section) {
      return section.name.starts_with(".text.") && !section.bytes.empty();
    });
  }

  /// Variables in global memory, sorted. Strings of printf, whose symbols start with '$', lie there too.
  std::vector<std::string> state() const {
    std::vector<std::string> names;
    for (const Symbol& symbol : symbols_) {
      const std::uint64_t at = symbol.entry.st_shndx;
      if (at >= sections_.size() || ELF64_ST_TYPE(symbol.entry.st_info) != STT_OBJECT) continue;
      const std::string_view section = sections_[at].name;
      if (section != ".nv.global" && section != ".nv.global.init") continue;
      if (!symbol.name.empty() && !symbol.name.starts_with("$")) names.emplace_back(symbol.name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  struct Symbol {
    Elf64_Sym entry;
    std::string_view name;
  };

  bool read_symbols() {
    for (const ElfSection& section : sections_) {
      if (section.header.sh_type != SHT_SYMTAB) continue;
      if (section.header.sh_link >= sections_.size()) return false;
      const std::string_view names = sections_[section.header.sh_link].bytes;
      for (std::uint64_t at = 0; at < section.bytes.size(); at += sizeof(Elf64_Sym)) {
        const auto entry = read_at<Elf64_Sym>(section.bytes, at);
        const auto name = entry ? string_at(names, entry->st_name) : std::nullopt;
        if (!name) return false;
        symbols_.push_back({*entry, *name});
      }
    }
    return true;
  }

  /// The section that relocations apply to is in their name: ".rela.text.scale".
  static std::string_view subject_of(std::string_view name) {
    for (const std::string_view prefix : {".rela", ".rel"})
      if (name.starts_with(std::string(prefix) + ".")) return name.substr(prefix.size());
    return name;
  }

  static bool matters(const ElfSection& section) {
    const auto type = section.header.sh_type;
    if (type == SHT_NULL || type == SHT_SYMTAB || type == SHT_STRTAB || type == SHT_NOTE) return false;
    if (section.header.sh_size == 0) return false;
    const std::string_view name = subject_of(section.name);
    for (const std::string_view prefix : {".debug_", ".nv_debug", ".nv.merc.", ".note"})
      if (name.starts_with(prefix)) return false;
    return true;
  }

  /// Where a symbol lies, not what it is called; a name only where it is what binds (kernels, what is outside).
  std::string place_of(std::uint64_t index) const {
    if (index >= symbols_.size()) return "?" + number(index);
    const Symbol& symbol = symbols_[index];
    const std::uint64_t at = symbol.entry.st_shndx;
    std::string place = at < sections_.size() ? std::string(sections_[at].name) : number(at);
    place += "+" + number(symbol.entry.st_value) + "," + number(symbol.entry.st_size) + "," +
             number(symbol.entry.st_info) + "," + number(symbol.entry.st_other);
    if (at == SHN_UNDEF || ELF64_ST_BIND(symbol.entry.st_info) != STB_LOCAL) place += " " + std::string(symbol.name);
    return place;
  }

  std::string part_of(const ElfSection& section) const {
    const Elf64_Shdr& header = section.header;
    std::string part = number(header.sh_type) + " " + number(header.sh_flags) + " " + number(header.sh_size) + " " +
                       number(header.sh_addralign) + " ";
    // The low bits are the kernel's symbol, the high ones its registers (sm_80).
    if (section.name.starts_with(".text.")) part += number(header.sh_info >> 24U) + " ";
    if (header.sh_type == SHT_RELA) return part + relocations<Elf64_Rela>(section.bytes);
    if (header.sh_type == SHT_REL) return part + relocations<Elf64_Rel>(section.bytes);
    if (section.name == ".nv.callgraph") return part + call_graph(section.bytes);
    if (section.name == ".nv.info" || section.name.starts_with(".nv.info.")) return part + attributes(section.bytes);
    return part.append(section.bytes);
  }

  template <typename Relocation>
  std::string relocations(std::string_view bytes) const {
    std::vector<std::string> lines;
    for (std::uint64_t at = 0; at < bytes.size(); at += sizeof(Relocation)) {
      const auto entry = read_at<Relocation>(bytes, at);
      if (!entry) return std::string(bytes);
      std::string line = number(entry->r_offset) + " " + number(ELF64_R_TYPE(entry->r_info)) + " " +
                         place_of(ELF64_R_SYM(entry->r_info));
      if constexpr (requires { entry->r_addend; }) line += " " + number(static_cast<std::uint64_t>(entry->r_addend));
      lines.push_back(line + "\n");
    }
    std::sort(lines.begin(), lines.end());
    std::string text;
    for (const std::string& line : lines) text += line;
    return text;
  }

  std::string call_graph(std::string_view bytes) const {
    std::string text;
    for (std::uint64_t at = 0; at < bytes.size(); at += sizeof(std::uint32_t)) {
      const auto word = read_at<std::uint32_t>(bytes, at);
      if (!word) return std::string(bytes);
      text += place_of(*word) + "\n";
    }
    return text;
  }

  /// Attributes are (format, name, 16 bits); format 4 is followed by as many bytes as the 16 bits say.
  std::string attributes(std::string_view bytes) const {
    constexpr std::uint8_t kSized = 4;
    std::vector<std::string> lines;
    for (std::uint64_t at = 0; at < bytes.size();) {
      const auto format = read_at<std::uint8_t>(bytes, at), name = read_at<std::uint8_t>(bytes, at + 1);
      const auto value = read_at<std::uint16_t>(bytes, at + 2);
      if (!format || !name || !value) return std::string(bytes);
      at += 4;
      std::string line = number(*format) + " " + number(*name) + " " + number(*value) + " ";
      if (*format == kSized) {
        const auto content = slice(bytes, at, *value);
        if (!content) return std::string(bytes);
        line += attribute(*name, *content);
        at += *value;
      }
      lines.push_back(line + "\n");
    }
    std::sort(lines.begin(), lines.end());
    std::string text;
    for (const std::string& line : lines) text += line;
    return text;
  }

  /// These attributes begin with a symbol's number; the list of externs holds nothing else.
  std::string attribute(std::uint8_t name, std::string_view content) const {
    constexpr std::uint8_t kParamBank = 0x0a, kExterns = 0x0f, kFrameSize = 0x11, kMinStack = 0x12, kMaxStack = 0x23,
                           kRegisters = 0x2f;
    std::uint64_t symbols = 0;
    if (name == kExterns) symbols = content.size() / sizeof(std::uint32_t);
    for (const std::uint8_t one : {kParamBank, kFrameSize, kMinStack, kMaxStack, kRegisters})
      if (name == one) symbols = 1;
    std::string text;
    for (std::uint64_t i = 0; i < symbols; ++i) {
      const auto index = read_at<std::uint32_t>(content, i * sizeof(std::uint32_t));
      if (!index) return std::string(content);
      text += place_of(*index) + " ";
    }
    return text.append(content.substr(symbols * sizeof(std::uint32_t)));
  }

  Elf64_Ehdr header_{};
  std::vector<ElfSection> sections_;
  std::vector<Symbol> symbols_;
};

}  // namespace

std::vector<std::string> state_of(std::string_view cubin) {
  const auto parsed = Cubin::parse(cubin);
  return parsed ? parsed->state() : std::vector<std::string>();
}

std::string code_hash_of(std::string_view cubin) {
  const auto parsed = Cubin::parse(cubin);
  return parsed && parsed->has_code() ? parsed->hash() : "";
}

std::string code_hash(const model::KernelBinary& binary) {
  try {
    const std::string file = read_file(binary.path);
    return is_gpu_target(binary.target) ? code_hash_of(file) : host_code_hash(file);
  } catch (const Error&) {
    return "";  // removed meanwhile
  }
}

}  // namespace ktune::compile
