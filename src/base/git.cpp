#include "base/git.h"

#include "base/process.h"
#include "base/text.h"

namespace ktune {

namespace fs = std::filesystem;

namespace {

constexpr double kSeconds = 120.0;

}  // namespace

std::optional<fs::path> repository_of(const fs::path& path) {
  std::error_code error;
  for (fs::path folder = fs::weakly_canonical(path);; folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", error)) return folder;
    if (folder == folder.parent_path()) return std::nullopt;
  }
}

std::optional<std::string> git(const fs::path& top, const std::vector<std::string>& words,
                               const std::vector<std::pair<std::string, std::string>>& environment) {
  const std::string folder = top.string();
  std::vector<std::string> command{"git", "-C", folder, "--git-dir=" + (top / ".git").string(),
                                   "--work-tree=" + folder};
  command.insert(command.end(), words.begin(), words.end());
  const CommandResult result = run_command(command, kSeconds, environment);
  if (result.timed_out || result.status.code != 0) return std::nullopt;
  return std::string(trim(result.out));
}

}  // namespace ktune
