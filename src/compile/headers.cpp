#include "compile/headers.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"

namespace ktune::compile {
namespace {

namespace fs = std::filesystem;

struct Include {
  std::string name;
  bool quoted = false;
};

/// The #include lines of a text. Conditions are not evaluated: one include too many costs a few bytes of hashing.
std::vector<Include> includes_of(std::string_view text) {
  std::vector<Include> found;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = trim(text.substr(at, end - at));
    at = end + 1;
    if (!line.starts_with('#')) continue;
    line = trim(line.substr(1));
    if (!line.starts_with("include")) continue;
    line = trim(line.substr(7));
    if (line.empty() || (line[0] != '"' && line[0] != '<')) continue;
    const std::size_t close = line.find(line[0] == '"' ? '"' : '>', 1);
    if (close == std::string_view::npos) continue;
    found.push_back({std::string(line.substr(1, close - 1)), line[0] == '"'});
  }
  return found;
}

struct CachedFile {
  fs::file_time_type time;
  std::uintmax_t bytes = 0;
  std::shared_ptr<const std::string> text;
  std::string hash;
  std::vector<Include> includes;
};

/// A file and what it includes, from memory while its size and time stand.
CachedFile load(const fs::path& path) {
  static std::mutex mutex;
  static std::map<fs::path, CachedFile> files;
  const std::lock_guard lock(mutex);
  std::error_code error;
  const auto time = fs::last_write_time(path, error);
  const auto bytes = fs::file_size(path, error);
  const auto known = files.find(path);
  if (known != files.end() && !error && known->second.time == time && known->second.bytes == bytes) {
    return known->second;
  }
  CachedFile fresh;
  fresh.time = time;
  fresh.bytes = bytes;
  fresh.text = std::make_shared<const std::string>(read_file(path));
  fresh.hash = hash_hex(*fresh.text);
  fresh.includes = includes_of(*fresh.text);
  files[path] = fresh;
  return fresh;
}

struct Search {
  std::span<const std::string> include_dirs;
  fs::path last_dir;

  std::optional<fs::path> find(const Include& include, const fs::path& beside) const {
    std::error_code error;
    if (include.name.empty() || fs::path(include.name).is_absolute()) return std::nullopt;
    const auto there = [&](const fs::path& dir) { return fs::is_regular_file(dir / include.name, error); };
    if (include.quoted && there(beside)) return beside / include.name;
    for (const std::string& dir : include_dirs) {
      if (there(dir)) return fs::path(dir) / include.name;
    }
    if (!last_dir.empty() && there(last_dir)) return last_dir / include.name;
    return std::nullopt;
  }
};

}  // namespace

std::vector<KernelHeader> collect_headers(std::string_view source, const fs::path& source_dir,
                                          std::span<const std::string> include_dirs, const fs::path& last_dir) {
  const Search search{include_dirs, last_dir};
  std::vector<KernelHeader> headers;
  std::map<std::string, std::string> hash_by_name;
  struct Pending {
    Include include;
    fs::path beside;
  };
  std::deque<Pending> pending;
  for (Include& include : includes_of(source)) pending.push_back({std::move(include), source_dir});
  while (!pending.empty()) {
    const Pending next = std::move(pending.front());
    pending.pop_front();
    const std::optional<fs::path> path = search.find(next.include, next.beside);
    if (!path) continue;
    const CachedFile file = load(*path);
    const auto [known, fresh] = hash_by_name.try_emplace(next.include.name, file.hash);
    if (!fresh) {
      if (known->second == file.hash) continue;
      throw Error(ErrorKind::kUsage, fmt::format("#include \"{}\" means two different files", next.include.name),
                  "rename one, or include it by a path below an include folder", path->string());
    }
    headers.push_back({next.include.name, *path, file.text, file.hash});
    for (const Include& include : file.includes) pending.push_back({include, path->parent_path()});
  }
  return headers;
}

}  // namespace ktune::compile
