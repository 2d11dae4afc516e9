#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/error.h"
#include "base/fd.h"

namespace ktune {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunk = 1 << 16;

std::string reason(int code) { return std::generic_category().message(code); }

[[noreturn]] void cannot_write(const fs::path& path, int code) {
  std::string hint = code == ENOENT ? fmt::format("create the folder {} first", path.parent_path().string()) : "";
  throw Error(ErrorKind::kEnvironment, fmt::format("cannot write {}: {}", path.string(), reason(code)), hint);
}

/// Returns 0 or errno.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// A pipe, terminal or device (`--output /dev/stdout`) is written in place: a rename would replace the device.
bool is_special(const fs::path& path) {
  std::error_code ignored;
  fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

/// The file a rename must replace: what a symbolic link points at, not the link.
fs::path link_target(const fs::path& path) {
  std::error_code failed;
  fs::path target = fs::canonical(path, failed);
  return failed ? path : target;
}

void write_in_place(const fs::path& path, std::string_view bytes) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  int code = fd.get() < 0 ? errno : write_all(fd.get(), bytes);
  if (code != 0) cannot_write(path, code);
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path home_dir() {
  std::string home = environment("HOME");
  if (!home.empty()) return home;
  const passwd* entry = getpwuid(getuid());
  if (entry != nullptr && entry->pw_dir != nullptr && *entry->pw_dir != '\0') return entry->pw_dir;
  throw Error(ErrorKind::kEnvironment, "there is no home folder: $HOME is not set",
              "set KTUNE_CACHE_DIR and KTUNE_DATA_DIR to folders that can be written");
}

/// $own, else $xdg/ktune, else ~/fallback/ktune; created.
fs::path user_dir(const char* own, const char* xdg, const char* fallback) {
  fs::path path;
  std::string set = environment(own);
  std::string xdg_set = environment(xdg);
  if (!set.empty()) {
    path = set;
  } else if (!xdg_set.empty() && xdg_set.front() == '/') {  // the XDG specification: relative ones are invalid
    path = fs::path(xdg_set) / "ktune";
  } else {
    path = home_dir() / fallback / "ktune";
  }
  std::error_code failed;
  fs::create_directories(path, failed);
  if (failed) {
    throw Error(ErrorKind::kEnvironment, fmt::format("cannot create {}: {}", path.string(), failed.message()),
                fmt::format("set {} to a folder that can be written", own));
  }
  return path;
}

bool is_resource_root(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path / "kernels", ignored) && fs::is_directory(path / "configs", ignored);
}

}  // namespace

std::string read_file(const fs::path& path) {
  auto fail = [&](int code) {
    throw Error(ErrorKind::kUsage, fmt::format("cannot read {}: {}", path.string(), reason(code)));
  };
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) fail(errno);
  std::string bytes;
  struct stat status{};
  if (::fstat(fd.get(), &status) == 0 && status.st_size > 0) bytes.reserve(static_cast<std::size_t>(status.st_size));
  while (true) {
    std::size_t size = bytes.size();
    bytes.resize(size + kChunk);
    ssize_t got = ::read(fd.get(), bytes.data() + size, kChunk);
    if (got < 0 && errno != EINTR) fail(errno);
    bytes.resize(size + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got == 0) return bytes;
  }
}

void write_file(const fs::path& path, std::string_view bytes) {
  if (is_special(path)) return write_in_place(path, bytes);
  static std::atomic<unsigned> counter{0};
  const fs::path target = link_target(path);
  fs::path temporary = target;
  temporary += fmt::format(".{}-{}.tmp", ::getpid(), counter++);
  Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (fd.get() < 0) cannot_write(path, errno);
  int code = write_all(fd.get(), bytes);
  if (fd.close() != 0 && code == 0) code = errno;
  if (code == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) code = errno;
  if (code != 0) {
    ::unlink(temporary.c_str());
    cannot_write(path, code);
  }
}

bool is_within(const fs::path& path, const fs::path& folder) {
  const fs::path inside = fs::weakly_canonical(path).lexically_relative(fs::weakly_canonical(folder));
  return !inside.empty() && *inside.begin() != "..";
}

fs::path executable_path() {
  std::error_code failed;
  fs::path path = fs::read_symlink("/proc/self/exe", failed);
  if (failed) throw Error(ErrorKind::kEnvironment, "cannot tell where ktune is: " + failed.message(), "mount /proc");
  return path;
}

std::optional<fs::path> find_resource_root(const fs::path& start) {
  for (fs::path folder = start;; folder = folder.parent_path()) {
    if (is_resource_root(folder)) return folder;
    if (is_resource_root(folder / "share" / "ktune")) return folder / "share" / "ktune";
    if (folder == folder.parent_path()) return std::nullopt;
  }
}

fs::path resource_root() {
  constexpr const char* kWhat = "kernels/ and configs/";
  if (std::string root = environment("KTUNE_ROOT"); !root.empty()) {
    if (is_resource_root(root)) return fs::absolute(root).lexically_normal();
    throw Error(ErrorKind::kEnvironment, fmt::format("KTUNE_ROOT is {}, which does not hold {}", root, kWhat),
                "unset it, or set it to ktune's source tree or its installed share/ktune");
  }
  fs::path folder = executable_path().parent_path();
  if (auto found = find_resource_root(folder)) return *found;
  throw Error(ErrorKind::kEnvironment,
              fmt::format("{} are neither beside ktune nor in a folder above {}", kWhat, folder.string()),
              "copy the whole installed folder, or set KTUNE_ROOT");
}

fs::path cache_dir() { return user_dir("KTUNE_CACHE_DIR", "XDG_CACHE_HOME", ".cache"); }
fs::path data_dir() { return user_dir("KTUNE_DATA_DIR", "XDG_DATA_HOME", ".local/share"); }

}  // namespace ktune
