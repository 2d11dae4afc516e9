#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ktune {

/// The top of the work tree that holds a file or folder; nothing outside one. Git is not asked: it refuses folders of
/// other owners, as in containers, and goes by $GIT_DIR in hooks.
std::optional<std::filesystem::path> repository_of(const std::filesystem::path& path);

/// The output of a git command in the repository with this top, without its line end; nothing when it fails. Throws
/// Error(kEnvironment) where there is no git.
std::optional<std::string> git(const std::filesystem::path& top, const std::vector<std::string>& words,
                               const std::vector<std::pair<std::string, std::string>>& environment = {});

}  // namespace ktune
