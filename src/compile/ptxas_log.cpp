#include "compile/ptxas_log.h"

#include <charconv>
#include <optional>

#include "base/text.h"

// ptxas -v says, for each entry:
//   ptxas info    : Compiling entry function 'rmsnorm' for 'sm_90'
//   ptxas info    : Function properties for rmsnorm
//   ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 12 registers, used 1 barriers, 256 bytes smem
// Device functions that were not inlined have properties of their own, without "Compiling": they are not entries.

namespace ktune::compile {
namespace {

/// The number that stands right before ` what` in the line.
std::optional<int> number_before(std::string_view line, std::string_view what) {
  const std::size_t at = line.find(what);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t end = at;
  while (end > 0 && line[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int value = 0;
  if (std::from_chars(line.data() + begin, line.data() + end, value).ec != std::errc()) return std::nullopt;
  return value;
}

std::string_view between(std::string_view line, std::string_view before, char after) {
  const std::size_t at = line.find(before);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + before.size();
  return line.substr(begin, line.find(after, begin) - begin);
}

}  // namespace

std::map<std::string, model::KernelResources> parse_ptxas_log(std::string_view log) {
  std::map<std::string, model::KernelResources> entries;
  model::KernelResources* entry = nullptr;
  std::string name;
  bool own_properties = false;
  for (const std::string& line : split(log, '\n')) {
    if (const auto compiling = between(line, "Compiling entry function '", '\''); !compiling.empty()) {
      name = compiling;
      entry = &entries[name];
      entry->shared_bytes = 0;
    } else if (const auto properties = between(line, "Function properties for ", '\n'); !properties.empty()) {
      own_properties = trim(properties) == name;
    } else if (entry != nullptr && own_properties && line.find("bytes stack frame") != std::string::npos) {
      entry->local_bytes = number_before(line, " bytes stack frame").value_or(-1);
      entry->spill_store_bytes = number_before(line, " bytes spill stores").value_or(-1);
      entry->spill_load_bytes = number_before(line, " bytes spill loads").value_or(-1);
    } else if (entry != nullptr && line.find("Used ") != std::string::npos) {
      if (const auto registers = number_before(line, " registers")) entry->registers = *registers;
      if (const auto shared = number_before(line, " bytes smem")) entry->shared_bytes = *shared;
    }
  }
  return entries;
}

std::string entry_of(const std::map<std::string, model::KernelResources>& entries, const std::string& kernel) {
  if (entries.contains(kernel)) return kernel;
  const std::string mangled = "_Z" + std::to_string(kernel.size()) + kernel;
  for (const auto& [name, resources] : entries) {
    if (name.starts_with(mangled)) return name;
  }
  return {};
}

std::string without_notes(std::string_view log) {
  std::string kept;
  for (const std::string& line : split(log, '\n')) {
    if (line.starts_with("ptxas info") || line.starts_with("ptxas         .")) continue;
    kept += line;
    kept += '\n';
  }
  while (!kept.empty() && kept.back() == '\n') kept.pop_back();
  return kept;
}

std::string first_error(std::string_view log) {
  std::string first_line;
  for (const std::string& line : split(without_notes(log), '\n')) {
    const std::string_view text = trim(line);
    if (text.empty()) continue;
    if (text.find("error") != std::string_view::npos || text.find("fatal") != std::string_view::npos) {
      return std::string(text);
    }
    if (first_line.empty()) first_line = text;
  }
  return first_line;
}

}  // namespace ktune::compile
