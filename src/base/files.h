#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ktune {

/// Whole file as bytes. Throws Error(kUsage) naming the file and the system's reason.
std::string read_file(const std::filesystem::path& path);
/// Writes to a temporary beside it, then renames: readers see the old or the new, never half. A symbolic link is
/// followed; a device or pipe is written in place. The folder must exist. Throws Error(kEnvironment).
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// Whether a path leads below a folder, links followed; neither need exist.
bool is_within(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Path of the running executable.
std::filesystem::path executable_path();
/// The folder that holds `kernels/` and `configs/`: beside the binary, above it (a build tree), or
/// PREFIX/share/ktune of an installed one; $KTUNE_ROOT overrides. Throws Error(kEnvironment) when none has them.
std::filesystem::path resource_root();
/// The same search from a folder upwards, without $KTUNE_ROOT.
std::optional<std::filesystem::path> find_resource_root(const std::filesystem::path& start);
/// $KTUNE_CACHE_DIR, else $XDG_CACHE_HOME/ktune, else ~/.cache/ktune (created on use).
std::filesystem::path cache_dir();
/// $KTUNE_DATA_DIR, else $XDG_DATA_HOME/ktune, else ~/.local/share/ktune (created on use).
std::filesystem::path data_dir();

}  // namespace ktune
