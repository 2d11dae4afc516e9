#include "compile/host_pch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "device/cpu/host_toolchain.h"

namespace ktune::compile {
namespace {

namespace fs = std::filesystem;

constexpr double kMakeS = 120.0;

/// An exclusive lock on a file, given back at the end of the scope or of the process.
class FileLock {
 public:
  explicit FileLock(const fs::path& path) : fd_(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
    if (fd_ >= 0) flock(fd_, LOCK_EX);
  }
  ~FileLock() {
    if (fd_ >= 0) close(fd_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
};

bool make(const std::vector<std::string>& compiler, const std::vector<std::string>& flags, const fs::path& simt,
          const fs::path& target) {
  const fs::path fresh = target.string() + ".tmp";
  std::vector<std::string> argv = compiler;
  argv.insert(argv.end(), flags.begin(), flags.end());
  for (const std::string& word : {std::string("-x"), std::string("c++-header"), simt.string(), std::string("-o")}) {
    argv.push_back(word);
  }
  argv.push_back(fresh.string());
  const CommandResult result = run_command(argv, kMakeS);
  std::error_code error;
  if (result.timed_out || result.status.code != 0) {
    fs::remove(fresh, error);
    return false;
  }
  fs::rename(fresh, target, error);
  return !error;
}

/// Headers made for other keys and not renewed for a month: 36 MB each, of compilers and versions that are gone.
void remove_old(const fs::path& folder, const fs::path& keep) {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const auto made = fs::last_write_time(entry.path() / "simt.h.gch", error);
    if (!error && entry.path() != keep && now - made > std::chrono::days(30)) fs::remove_all(entry.path(), error);
  }
}

}  // namespace

fs::path precompiled_simt(const std::vector<std::string>& compiler, const std::vector<std::string>& flags,
                          const std::string& key) {
  const fs::path simt = device::cpu::simt_dir() / "simt.h";
  if (device::cpu::host_toolchain().clang) return simt;
  try {
    const fs::path dir = cache_dir() / "simt" / key;
    const fs::path made = dir / "simt.h.gch";
    const fs::path included = dir / "simt.h";
    if (fs::exists(made)) return included;
    fs::create_directories(dir);
    const FileLock lock(dir / "lock");
    if (fs::exists(made)) return included;
    // What the compiler reads should it refuse the one made ahead.
    write_file(included, "#include \"" + simt.string() + "\"\n");
    remove_old(dir.parent_path(), dir);
    return make(compiler, flags, simt, made) ? included : simt;
  } catch (const Error&) {
    return simt;
  } catch (const fs::filesystem_error&) {
    return simt;
  }
}

}  // namespace ktune::compile
