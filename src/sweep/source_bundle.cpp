#include "sweep/source_bundle.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "compile/headers.h"

namespace ktune::sweep {

namespace fs = std::filesystem;

namespace {

/// The deepest folder that holds every path.
fs::path common_folder(const std::set<fs::path>& paths) {
  fs::path common = paths.begin()->parent_path();
  for (const fs::path& path : paths) {
    fs::path shared;
    const fs::path folder = path.parent_path();
    auto a = common.begin();
    auto b = folder.begin();
    for (; a != common.end() && b != folder.end() && *a == *b; ++a, ++b) shared /= *a;
    common = shared;
  }
  return common;
}

}  // namespace

model::SourceBundle bundle_of(const model::OpSpec& spec) {
  const fs::path source = fs::weakly_canonical(spec.source_path);
  const fs::path toml = fs::weakly_canonical(spec.spec_path);
  std::set<fs::path> paths{source, toml};
  for (const compile::KernelHeader& header :
       compile::collect_headers(read_file(source), source.parent_path(), spec.include_dirs, {}))
    paths.insert(fs::weakly_canonical(header.path));
  std::set<fs::path> places = paths;
  for (const std::string& dir : spec.include_dirs) places.insert(fs::weakly_canonical(dir) / "any");
  const fs::path root = common_folder(places);
  model::SourceBundle bundle;
  bundle.spec = toml.lexically_relative(root).string();
  for (const fs::path& path : paths) bundle.files.emplace_back(path.lexically_relative(root).string(), read_file(path));
  return bundle;
}

fs::path unpack(const model::SourceBundle& bundle, const fs::path& folder) {
  const auto inside = [&](const std::string& name) {
    const fs::path relative = fs::path(name).lexically_normal();
    if (relative.is_absolute() || relative.empty() || *relative.begin() == "..")
      throw Error(ErrorKind::kUsage, "a stored source has the path " + name + ", which leads out of its folder",
                  "the database is damaged or was edited");
    return folder / relative;
  };
  std::error_code failed;
  for (const auto& [name, text] : bundle.files) {
    const fs::path path = inside(name);
    fs::create_directories(path.parent_path(), failed);
    if (failed)
      throw Error(ErrorKind::kEnvironment, "cannot make the folder " + path.parent_path().string(), failed.message());
    write_file(path, text);
  }
  return inside(bundle.spec);
}

}  // namespace ktune::sweep
