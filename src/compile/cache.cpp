#include "compile/cache.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "model/json.h"

namespace ktune::compile {
namespace {

namespace fs = std::filesystem;
using model::Json;

constexpr int kFormat = 1;  // raise when the entry's meaning changes

fs::path entry_path(const std::string& cache_dir, const std::string& key, const char* extension) {
  return fs::path(cache_dir) / key.substr(0, 2) / (key + extension);
}

const char* extension_of(const std::string& target) { return target.starts_with("cpu") ? ".so" : ".cubin"; }

}  // namespace

std::optional<model::KernelBinary> find_cached(const std::string& cache_dir, const std::string& key,
                                               const std::string& target) {
  const fs::path code_path = entry_path(cache_dir, key, extension_of(target));
  const fs::path note_path = entry_path(cache_dir, key, ".json");
  std::error_code error;
  if (!fs::exists(note_path, error) || !fs::exists(code_path, error)) return std::nullopt;
  try {
    const Json note = Json::parse(read_file(note_path));
    if (note.at("format").get<int>() != kFormat) return std::nullopt;
    if (note.at("code_hash").get<std::string>() != hash_hex(read_file(code_path))) return std::nullopt;
    auto binary = note.at("binary").get<model::KernelBinary>();
    if (binary.key != key || binary.target != target) return std::nullopt;
    binary.path = code_path.string();
    binary.cached = true;
    binary.compile_ms = 0.0;
    return binary;
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // removed or unreadable meanwhile
  }
}

model::KernelBinary store_cached(const std::string& cache_dir, const std::string& key, const std::string& target,
                                 const Compiled& compiled, double compile_ms) {
  model::KernelBinary binary;
  binary.key = key;
  binary.target = target;
  binary.resources = compiled.resources;
  binary.log = compiled.log;
  binary.compile_ms = compile_ms;
  const fs::path code_path = entry_path(cache_dir, key, extension_of(target));
  std::error_code error;
  fs::create_directories(code_path.parent_path(), error);
  if (error) {
    throw Error(ErrorKind::kEnvironment,
                fmt::format("cannot create {}: {}", code_path.parent_path().string(), error.message()),
                "set KTUNE_CACHE_DIR to a folder that can be written");
  }
  write_file(code_path, compiled.code);
  Json note;
  note["format"] = kFormat;
  note["code_hash"] = hash_hex(compiled.code);
  note["binary"] = binary;
  write_file(entry_path(cache_dir, key, ".json"), note.dump());
  binary.path = code_path.string();
  return binary;
}

}  // namespace ktune::compile
