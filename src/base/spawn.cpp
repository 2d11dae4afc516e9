// Starting a child. Everything that allocates happens before fork(): the parent may have threads, and a child of a
// threaded process may only call async-signal-safe functions. The child reports a failed exec through a pipe that a
// successful one closes, so "no such program" is an error here and not a mysterious exit code 127.

#include "base/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/text.h"

extern char** environ;

namespace ktune {
namespace {

struct Pipe {
  Fd read;
  Fd write;
};

[[noreturn]] void cannot_start(const std::string& program, int code) {
  std::string hint = code == ENOENT ? "install it, or put its folder in PATH" : "";
  throw Error(ErrorKind::kEnvironment,
              fmt::format("cannot start {}: {}", program, std::generic_category().message(code)), hint);
}

/// The descriptor moved above 2, so that no pipe end sits where the child's own stdin, stdout or stderr goes (a parent
/// may have been started with those closed).
Fd above_standard(Fd fd) {
  if (fd.get() > STDERR_FILENO) return fd;
  return Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

Pipe make_pipe(const std::string& program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) cannot_start(program, errno);
  Pipe pipe{Fd(ends[0]), Fd(ends[1])};
  pipe.read = above_standard(std::move(pipe.read));
  pipe.write = above_standard(std::move(pipe.write));
  if (pipe.read.get() < 0 || pipe.write.get() < 0) cannot_start(program, EMFILE);
  return pipe;
}

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

bool is_program(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path, ':')) {
    std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (is_program(candidate)) return candidate;
  }
  cannot_start(name, ENOENT);
}

std::vector<std::string> merged_environment(const std::vector<std::pair<std::string, std::string>>& extra) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view text(*entry);
    std::string_view name = text.substr(0, text.find('='));
    bool replaced = std::any_of(extra.begin(), extra.end(), [&](const auto& pair) { return pair.first == name; });
    if (!replaced) merged.emplace_back(text);
  }
  for (const auto& [name, value] : extra) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

struct ChildSetup {
  const char* program;
  char* const* argv;
  char* const* envp;
  int in;
  int out;
  int err;
  int report;
  pid_t parent;
};

/// Async-signal-safe calls only.
[[noreturn]] void become(const ChildSetup& setup) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != setup.parent) ::_exit(127);  // it died before the line above
  struct sigaction plain{};
  plain.sa_handler = SIG_DFL;
  for (int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGQUIT, SIGCHLD}) ::sigaction(signal, &plain, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  bool placed = ::dup2(setup.in, STDIN_FILENO) >= 0 && ::dup2(setup.out, STDOUT_FILENO) >= 0 &&
                ::dup2(setup.err, STDERR_FILENO) >= 0;
  if (placed) {
    // Descriptors of other libraries may lack close-on-exec: a lock must not outlive its owner in a child. Old kernels
    // have no such call, and nothing depends on it.
    constexpr unsigned kCloseOnExec = 1u << 2;
    ::syscall(SYS_close_range, 3u, ~0u, kCloseOnExec);
    ::execve(setup.program, setup.argv, setup.envp);
  }
  int code = errno;
  [[maybe_unused]] ssize_t sent = ::write(setup.report, &code, sizeof code);
  ::_exit(127);
}

/// 0 when the exec succeeded, else the child's errno.
int exec_failure(int report) {
  int code = 0;
  ssize_t got;
  do {
    got = ::read(report, &code, sizeof code);
  } while (got < 0 && errno == EINTR);
  return got == sizeof code ? code : 0;
}

}  // namespace

Spawned spawn(const std::vector<std::string>& argv, const std::vector<std::pair<std::string, std::string>>& extra_env,
              bool with_stdin) {
  KTUNE_CHECK(!argv.empty());
  std::string program = find_program(argv[0]);
  std::vector<std::string> arguments = argv;
  std::vector<std::string> environment = merged_environment(extra_env);
  std::vector<char*> argument_pointers = pointers(arguments);
  std::vector<char*> environment_pointers = pointers(environment);

  Pipe in;
  if (with_stdin) {
    in = make_pipe(argv[0]);
  } else {
    in.read = above_standard(Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
    if (in.read.get() < 0) cannot_start(argv[0], errno);
  }
  Pipe out = make_pipe(argv[0]);
  Pipe err = make_pipe(argv[0]);
  Pipe report = make_pipe(argv[0]);
  ChildSetup setup{program.c_str(), argument_pointers.data(), environment_pointers.data(), in.read.get(),
                   out.write.get(), err.write.get(),          report.write.get(),          ::getpid()};
  pid_t pid = ::fork();
  if (pid < 0) cannot_start(argv[0], errno);
  if (pid == 0) become(setup);
  ::setpgid(pid, pid);  // here too: whichever comes first, the group exists before anyone may kill it
  report.write.close();
  if (int code = exec_failure(report.read.get()); code != 0) {
    ::waitpid(pid, nullptr, 0);
    cannot_start(argv[0], code);
  }
  if (with_stdin) set_nonblocking(in.write.get());
  set_nonblocking(out.read.get());
  set_nonblocking(err.read.get());
  return Spawned{pid, std::move(in.write), std::move(out.read), std::move(err.read)};
}

// Not glibc's pidfd_open: 2.36 declares it without C linkage, and so it does not link.
Fd open_pidfd(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0u))); }

ReadState read_some(int fd, std::string& to) {
  std::array<char, 1 << 16> chunk;
  ssize_t got;
  do {
    got = ::read(fd, chunk.data(), chunk.size());
  } while (got < 0 && errno == EINTR);
  if (got > 0) {
    to.append(chunk.data(), static_cast<std::size_t>(got));
    return ReadState::kGot;
  }
  return got < 0 && errno == EAGAIN ? ReadState::kEmpty : ReadState::kEnd;
}

void kill_groups(pid_t pid) {
  std::error_code gone;
  std::filesystem::directory_iterator task(fmt::format("/proc/{}/task", pid), gone);
  for (; !gone && task != std::filesystem::directory_iterator(); task.increment(gone)) {
    std::ifstream children(task->path() / "children");
    for (pid_t child = 0; children >> child;) ::kill(-child, SIGKILL);
  }
  ::kill(-pid, SIGKILL);
}

std::optional<ExitStatus> reap(pid_t pid) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return {};
  ::kill(-pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  ExitStatus status;
  if (info.si_code == CLD_EXITED) {
    status.code = info.si_status;
  } else {
    status.signal = info.si_status;
  }
  return status;
}

double deadline_from(double timeout_s) { return timeout_s < 0 ? -1 : now_s() + timeout_s; }

int poll_timeout_ms(double deadline_s) {
  if (deadline_s < 0) return -1;
  double left_ms = std::ceil((deadline_s - now_s()) * 1e3);
  return static_cast<int>(std::clamp(left_ms, 0.0, static_cast<double>(INT_MAX)));
}

}  // namespace ktune
