#include "trial/device_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "base/text.h"

namespace ktune::trial {
namespace {

constexpr std::chrono::milliseconds kLook{50};

std::filesystem::path lock_path(const std::string& uuid) {
  std::string name;
  for (const char c : uuid) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  const std::filesystem::path folder = cache_dir() / "locks";
  std::error_code ignored;  // opening the file says what is wrong
  std::filesystem::create_directories(folder, ignored);
  return folder / (name + ".lock");
}

/// "process 1234", as the holder wrote it.
std::string holder_of(int fd) {
  char text[32] = {};
  const ssize_t size = pread(fd, text, sizeof text - 1, 0);
  const std::string pid(trim(std::string_view(text, size > 0 ? static_cast<std::size_t>(size) : 0)));
  return pid.empty() ? "another process" : "process " + pid;
}

void sign(int fd) {
  const std::string pid = std::to_string(getpid()) + "\n";
  // Only for messages: a lock file that cannot be written still locks.
  if (ftruncate(fd, 0) != 0) return;
  [[maybe_unused]] const ssize_t written = pwrite(fd, pid.data(), pid.size(), 0);
}

}  // namespace

DeviceLock::~DeviceLock() {
  if (fd_ >= 0) close(fd_);
}

DeviceLock::DeviceLock(DeviceLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

DeviceLock& DeviceLock::operator=(DeviceLock&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

DeviceLock DeviceLock::acquire(const std::string& uuid, const std::string& device_name, double limit_s,
                               const std::function<void(const std::string&)>& say) {
  const std::filesystem::path path = lock_path(uuid);
  DeviceLock lock;
  lock.fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock.fd_ < 0) {
    throw Error(ErrorKind::kEnvironment, fmt::format("cannot open the device's lock file: {}", std::strerror(errno)),
                "set KTUNE_CACHE_DIR to a folder that can be written", path.string());
  }
  const double end = now_s() + limit_s;
  bool said = false;
  while (flock(lock.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (interrupted()) throw Error(ErrorKind::kInterrupted, "interrupted");
    const std::string holder = holder_of(lock.fd_);
    if (now_s() >= end) {
      throw Error(ErrorKind::kEnvironment, fmt::format("another ktune ({}) is measuring on {}", holder, device_name),
                  "wait until it has finished, or choose another device: two measurements at once disturb each other");
    }
    if (!std::exchange(said, true) && say)
      say(fmt::format("waiting until another ktune ({}) has finished on {}", holder, device_name));
    std::this_thread::sleep_for(kLook);
  }
  sign(lock.fd_);
  return lock;
}

}  // namespace ktune::trial
