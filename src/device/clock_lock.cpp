#include "device/clock_lock.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace ktune::device {
namespace {

constexpr int kLookMs = 200;
constexpr double kHeldShare = 0.01;  // clocks come in steps of 15 MHz
constexpr int kMostlyPct = 95;

/// The guard's first words.
struct Greeting {
  int locked = 0;
  std::array<char, 508> problem{};
};

template <typename T>
bool send(int fd, const T& value) {
  return ::write(fd, &value, sizeof value) == static_cast<ssize_t>(sizeof value);
}
template <typename T>
bool receive(int fd, T& value) {
  ssize_t got = 0;
  do got = ::read(fd, &value, sizeof value);
  while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof value);  // below PIPE_BUF: whole or not at all
}

std::string lock_problem(int result, int mhz) {
  switch (result) {
    case 0:
      return {};
    case 4:
      return "locking clocks is for administrators: run as root, or leave --lock-clocks out";
    case 2:
      return fmt::format("the GPU takes no lock at {} MHz: `nvidia-smi -q -d SUPPORTED_CLOCKS` lists what it has", mhz);
    case 3:
      return "this GPU's clocks cannot be locked (a MIG slice, a virtual GPU or an old one)";
    default:
      return fmt::format("NVML does not lock the clock: error {}", result);
  }
}

void look(const ClockFunctions& functions, int mhz, ClockReport& report) {
  unsigned now = 0;
  if (functions.sm_clock == nullptr || functions.sm_clock(functions.device, &now) != 0) return;
  const int clock = static_cast<int>(now);
  report.lowest_mhz = report.looks == 0 ? clock : std::min(report.lowest_mhz, clock);
  report.highest_mhz = std::max(report.highest_mhz, clock);
  ++report.looks;
  if (std::abs(clock - mhz) <= kHeldShare * mhz) ++report.held;
}

/// The guard's life. It must outlive whatever ends its parent, so it takes no signal that a terminal or a `kill` sends
/// to both.
template <typename Load>
[[noreturn]] void guard_main(int from_parent, int to_parent, int mhz, const Load& load) {
  setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) std::signal(signal, SIG_IGN);
  if (const int nothing = open("/dev/null", O_RDWR); nothing >= 0) {  // holds nobody's pipe open
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, fd);
  }
  for (int fd = 3; fd < 1024; ++fd) {
    if (fd != from_parent && fd != to_parent) ::close(fd);
  }
  Greeting greeting;
  std::string problem;
  const ClockFunctions functions = load(problem);
  if (problem.empty() && (functions.lock == nullptr || functions.reset == nullptr))
    problem = "NVML is too old to lock clocks";
  if (problem.empty()) {
    const auto clock = static_cast<unsigned>(mhz);
    problem = lock_problem(functions.lock(functions.device, clock, clock), mhz);
  }
  greeting.locked = problem.empty() ? 1 : 0;
  problem.copy(greeting.problem.data(), greeting.problem.size() - 1);
  const bool heard = send(to_parent, greeting);
  if (greeting.locked == 0) _exit(1);
  ClockReport report;
  pollfd wait{from_parent, POLLIN, 0};
  while (heard) {
    const int ready = poll(&wait, 1, kLookMs);
    if (ready < 0 && errno == EINTR) continue;
    look(functions, mhz, report);
    if (ready != 0) break;  // asked to end, or the parent is gone
  }
  report.restored = functions.reset(functions.device) == 0;
  send(to_parent, report);
  _exit(report.restored ? 0 : 1);
}

/// NVML for one GPU, in the guard's process.
ClockFunctions load_nvml(const std::string& uuid, std::string& problem) {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    problem = "libnvidia-ml.so.1 cannot be opened; it comes with the driver";
    return {};
  }
  const auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  const auto by_uuid = reinterpret_cast<int (*)(const char*, void**)>(dlsym(library, "nvmlDeviceGetHandleByUUID"));
  static int (*clock_info)(void*, unsigned, unsigned*) = nullptr;
  clock_info = reinterpret_cast<int (*)(void*, unsigned, unsigned*)>(dlsym(library, "nvmlDeviceGetClockInfo"));
  if (init == nullptr || by_uuid == nullptr || init() != 0) {
    problem = "NVML does not start";
    return {};
  }
  ClockFunctions functions;
  if (const int result = by_uuid(uuid.c_str(), &functions.device); result != 0) {
    problem = fmt::format("NVML does not know {}: error {}", uuid, result);
    return {};
  }
  functions.lock = reinterpret_cast<int (*)(void*, unsigned, unsigned)>(dlsym(library, "nvmlDeviceSetGpuLockedClocks"));
  functions.reset = reinterpret_cast<int (*)(void*)>(dlsym(library, "nvmlDeviceResetGpuLockedClocks"));
  if (clock_info != nullptr) {
    constexpr unsigned kSm = 1;
    functions.sm_clock = [](void* device, unsigned* mhz) { return clock_info(device, kSm, mhz); };
  }
  return functions;
}

}  // namespace

std::string clock_message(const ClockReport& report, int asked_mhz) {
  if (!report.restored)
    return "the GPU's clock may still be locked: give it back with `nvidia-smi --reset-gpu-clocks` (as root)";
  if (report.looks == 0) return fmt::format("NVML does not say whether the SM clock was held at {} MHz", asked_mhz);
  if (100 * report.held >= kMostlyPct * report.looks) return {};
  return fmt::format("the SM clock was not held at {} MHz: {} of {} looks found it elsewhere, from {} to {} MHz",
                     asked_mhz, report.looks - report.held, report.looks, report.lowest_mhz, report.highest_mhz);
}

template <typename Load>
void ClockLock::start(const Load& load) {
  std::array<int, 2> down{};
  std::array<int, 2> up{};
  if (pipe2(down.data(), O_CLOEXEC) != 0) throw Error(ErrorKind::kEnvironment, "cannot make a pipe");
  if (pipe2(up.data(), O_CLOEXEC) != 0) {
    ::close(down[0]);
    ::close(down[1]);
    throw Error(ErrorKind::kEnvironment, "cannot make a pipe");
  }
  guard_ = fork();
  if (guard_ == 0) guard_main(down[0], up[1], mhz_, load);
  ::close(down[0]);
  ::close(up[1]);
  to_guard_ = down[1];
  from_guard_ = up[0];
  Greeting greeting;
  const bool heard = guard_ > 0 && receive(from_guard_, greeting);
  if (heard && greeting.locked != 0) return;
  release();
  throw Error(ErrorKind::kEnvironment,
              fmt::format("--lock-clocks {}: {}", mhz_, heard ? greeting.problem.data() : "the guard process ended"));
}

ClockLock::ClockLock(const std::string& uuid, int mhz) : mhz_(mhz) {
  start([&uuid](std::string& problem) { return load_nvml(uuid, problem); });
}

ClockLock::ClockLock(ClockFunctions (*load)(std::string& problem), int mhz) : mhz_(mhz) { start(load); }

ClockLock::~ClockLock() { release(); }

ClockReport ClockLock::release() {
  ClockReport report;
  if (guard_ <= 0) return report;
  ::close(to_guard_);
  if (!receive(from_guard_, report)) report = ClockReport{};
  ::close(from_guard_);
  while (waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) {
  }
  guard_ = -1;
  return report;
}

}  // namespace ktune::device
