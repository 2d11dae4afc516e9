#include "gate/baseline_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"

namespace ktune::gate {

verdict::Baseline load_baseline(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    throw Error(ErrorKind::kNoData, fmt::format("there is no baseline {}", path),
                fmt::format("`ktune baseline save {} --op NAME` makes one", path));
  return verdict::parse_baseline(read_file(path), path);
}

BaselineLock::BaselineLock(const std::string& path)
    : folder_(::open(std::filesystem::absolute(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  while (folder_.get() >= 0 && ::flock(folder_.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
}

void save_baseline(const verdict::Baseline& baseline, const std::string& path) {
  verdict::check_baseline(baseline, path);
  write_file(path, verdict::baseline_text(baseline));
}

}  // namespace ktune::gate
