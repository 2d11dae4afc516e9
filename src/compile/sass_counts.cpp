#include "compile/sass_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"

// nvdisasm:   .section  .text.scale,"ax",@progbits        cuobjdump:   Function : scale
//             /*0060*/   @P0 LDG.E.128 R4, [R4.64] ;                   /*0060*/  … ;   /* 0x0000000402047981 */

namespace ktune::compile {
namespace {

struct Class {
  std::string_view opcode;  ///< the opcode, or with a star what it begins with
  const char* name;
};
/// The first that fits; an opcode in none is "other". Opcodes: "CUDA Binary Utilities", instruction set reference.
constexpr std::array kClasses{
    Class{"LDGSTS", "global"},  Class{"LDGMC*", "global"},      Class{"LDGDEPBAR", "control"},
    Class{"LDG*", "global"},    Class{"STG*", "global"},        Class{"LD", "global"},
    Class{"ST", "global"},      Class{"UBLK*", "global"},       Class{"UTMA*", "global"},
    Class{"LDSM", "shared"},    Class{"STSM", "shared"},        Class{"LDS*", "shared"},
    Class{"STS*", "shared"},    Class{"STAS*", "shared"},       Class{"LDL*", "local"},
    Class{"STL*", "local"},     Class{"LDC*", "constant"},      Class{"ULDC*", "constant"},
    Class{"ATOM*", "atomic"},   Class{"RED*", "atomic"},        Class{"UTC*", "tensor"},
    Class{"HMMA*", "tensor"},   Class{"IMMA*", "tensor"},       Class{"DMMA*", "tensor"},
    Class{"BMMA*", "tensor"},   Class{"QMMA*", "tensor"},       Class{"OMMA*", "tensor"},
    Class{"HGMMA*", "tensor"},  Class{"QGMMA*", "tensor"},      Class{"IGMMA*", "tensor"},
    Class{"BGMMA*", "tensor"},  Class{"WARPGROUP*", "control"}, Class{"FADD*", "float"},
    Class{"FMUL*", "float"},    Class{"FFMA*", "float"},        Class{"FMNMX*", "float"},
    Class{"FSEL*", "float"},    Class{"FSET*", "float"},        Class{"FCHK", "float"},
    Class{"MUFU", "float"},     Class{"HADD2*", "float"},       Class{"HMUL2*", "float"},
    Class{"HFMA2*", "float"},   Class{"HMNMX2*", "float"},      Class{"HSET*", "float"},
    Class{"DADD", "float"},     Class{"DMUL", "float"},         Class{"DFMA", "float"},
    Class{"DSETP", "float"},    Class{"DMNMX", "float"},        Class{"IADD*", "integer"},
    Class{"UIADD*", "integer"}, Class{"IMAD*", "integer"},      Class{"UIMAD*", "integer"},
    Class{"IMNMX*", "integer"}, Class{"IABS", "integer"},       Class{"ISETP", "integer"},
    Class{"UISETP", "integer"}, Class{"LOP3", "integer"},       Class{"ULOP3", "integer"},
    Class{"LEA", "integer"},    Class{"ULEA", "integer"},       Class{"SHF", "integer"},
    Class{"USHF", "integer"},   Class{"PRMT", "integer"},       Class{"UPRMT", "integer"},
    Class{"VIADD*", "integer"}, Class{"VIMNMX*", "integer"},    Class{"BRA", "control"},
    Class{"BRX*", "control"},   Class{"EXIT", "control"},       Class{"RET", "control"},
    Class{"CALL", "control"},   Class{"BSSY", "control"},       Class{"BSYNC", "control"},
    Class{"BREAK", "control"},  Class{"BMOV", "control"},       Class{"WARPSYNC", "control"},
    Class{"BAR", "control"},    Class{"UCGABAR*", "control"},   Class{"SYNCS", "control"},
    Class{"DEPBAR", "control"}, Class{"MEMBAR", "control"},     Class{"FENCE", "control"},
    Class{"ERRBAR", "control"}, Class{"NANOSLEEP", "control"},  Class{"YIELD", "control"},
    Class{"CCTL*", "control"},
};

const char* class_of(std::string_view opcode) {
  for (const Class& entry : kClasses) {
    const bool open = entry.opcode.ends_with('*');
    if (open ? opcode.starts_with(entry.opcode.substr(0, entry.opcode.size() - 1)) : opcode == entry.opcode)
      return entry.name;
  }
  return "other";
}

/// LDG, STG, LDGSTS, LDS or STS; "" for what is none of them.
std::string_view access_of(std::string_view opcode) {
  if (opcode == "LD") return "LDG";
  if (opcode == "ST") return "STG";
  for (const std::string_view kind : {"LDGSTS", "LDG", "STG", "LDS", "STS"})
    if (opcode == kind) return kind;
  return "";
}

/// Bits of one thread's access: LDG.E.U8, LDG.E.64.CONSTANT, LDG.E.ENL2.256; 32 where the instruction does not say.
int bits_of(const std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (word.size() > 1 && (word[0] == 'U' || word[0] == 'S')) word.remove_prefix(1);
    for (const int bits : {8, 16, 64, 128, 256})
      if (word == std::to_string(bits)) return bits;
  }
  return 32;
}

/// The function whose code begins with this line.
std::optional<std::string> function_of(std::string_view line) {
  constexpr std::string_view kSection = ".section\t", kText = ".text.", kFunction = "Function : ";
  if (line.starts_with(kFunction)) return std::string(trim(line.substr(kFunction.size())));
  if (!line.starts_with(kSection)) return std::nullopt;
  const std::string_view name = trim(line.substr(kSection.size()));
  if (!name.starts_with(kText)) return std::string();  // not code
  return std::string(name.substr(kText.size(), name.find(',') - kText.size()));
}

/// The instruction of a line without its address; "" where it has none.
std::string_view instruction_of(std::string_view line) {
  if (!line.starts_with("/*")) return {};
  const std::size_t end = line.find("*/");
  if (end == std::string_view::npos || end < 3) return {};
  const auto is_address = [](unsigned char c) { return std::isxdigit(c) != 0; };
  const std::string_view address = line.substr(2, end - 2);
  if (!std::all_of(address.begin(), address.end(), is_address)) return {};  // an encoding: "/* 0x… */"
  const std::string_view rest = line.substr(end + 2);
  return trim(rest.substr(0, rest.find(';')));
}

void count(std::string_view instruction, model::SassCounts& counts) {
  while (instruction.starts_with('{')) instruction = trim(instruction.substr(1));  // issued in pairs
  if (instruction.starts_with('@')) {
    const std::size_t space = instruction.find(' ');
    if (space == std::string_view::npos || instruction.substr(0, space) == "@!PT") return;
    instruction = trim(instruction.substr(space));
  }
  const std::vector<std::string> words = split(instruction.substr(0, instruction.find(' ')), '.');
  const std::string& opcode = words.front();
  if (opcode.empty() || opcode == "NOP") return;
  ++counts.instructions;
  ++counts.classes[class_of(opcode)];
  if (const std::string_view access = access_of(opcode); !access.empty())
    ++counts.widths[std::string(access)][bits_of(words)];
}

}  // namespace

std::map<std::string, model::SassCounts> count_sass(std::string_view text) {
  std::map<std::string, model::SassCounts> functions;
  model::SassCounts* counts = nullptr;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trim(text.substr(at, end - at));
    at = end + 1;
    if (const auto function = function_of(line)) {
      counts = function->empty() ? nullptr : &functions[*function];
    } else if (const std::string_view instruction = instruction_of(line); counts != nullptr && !instruction.empty()) {
      count(instruction, *counts);
    }
  }
  return functions;
}

const model::SassCounts& counts_of(const std::map<std::string, model::SassCounts>& functions,
                                   const std::string& kernel) {
  const std::string mangled = fmt::format("_Z{}{}", kernel.size(), kernel);
  auto at = functions.find(kernel);
  if (at == functions.end())
    at = std::find_if(functions.begin(), functions.end(),
                      [&](const auto& function) { return function.first.starts_with(mangled); });
  if (at != functions.end() && at->second.instructions > 0) return at->second;
  std::vector<std::string> names;
  for (const auto& [name, counts] : functions) names.push_back(fmt::format("{} ({})", name, counts.instructions));
  throw Error(ErrorKind::kEnvironment,
              fmt::format("the disassembler shows no instructions of kernel '{}'; it shows: {}", kernel,
                          names.empty() ? "nothing" : join(names, ", ")),
              "`ktune show --sass` prints what it says; a newer toolkit's nvdisasm or cuobjdump may read the binary");
}

}  // namespace ktune::compile
