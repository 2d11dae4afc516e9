#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string_view>

#include "base/error.h"
#include "base/spawn.h"
#include "base/text.h"

namespace ktune {
namespace {

constexpr std::size_t kTail = 16 << 10;
constexpr std::size_t kLongestLine = 256 << 20;  // a child that prints no newline must not eat the parent's memory
constexpr std::size_t kReadAhead = 8 << 20;      // kept unread while writing or waiting
constexpr double kReap_s = 10.0;                 // a process stuck in a driver cannot be reaped: leave it to init

/// write() without SIGPIPE: the signal is blocked for this thread and taken back if the write raised it. Changing the
/// process's disposition instead would change it for every library in it.
ssize_t write_quietly(int fd, std::string_view bytes) {
  sigset_t pipe_only, before, pending;
  sigemptyset(&pipe_only);
  sigaddset(&pipe_only, SIGPIPE);
  sigpending(&pending);
  bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
  ssize_t written = ::write(fd, bytes.data(), bytes.size());
  int code = errno;
  if (written < 0 && code == EPIPE && !was_pending) {
    timespec at_once{};
    while (sigtimedwait(&pipe_only, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = code;
  return written;
}

}  // namespace

/// `ready` is an epoll descriptor over stdout and stderr. Handing out stdout alone would let a child that fills its
/// stderr pipe block while a parent polls several of them.
struct ChildProcess::Impl {
  Spawned child;
  Fd ready;
  Fd exited;  ///< pidfd; none on a kernel without them
  std::string out;
  std::size_t taken = 0;     ///< bytes of `out` already returned as lines
  std::size_t searched = 0;  ///< no newline between `taken` and here
  std::string err;
  bool out_ended = false;
  bool err_ended = false;
  std::optional<ExitStatus> status;

  Impl(const std::vector<std::string>& argv, const std::vector<std::pair<std::string, std::string>>& extra_env)
      : child(spawn(argv, extra_env, true)), ready(::epoll_create1(EPOLL_CLOEXEC)), exited(open_pidfd(child.pid)) {
    for (int fd : {child.out.get(), child.err.get()}) {
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.fd = fd;
      ::epoll_ctl(ready.get(), EPOLL_CTL_ADD, fd, &event);
    }
  }

  ~Impl() { end(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void end() {
    if (status) return;
    kill_groups(child.pid);
    const double deadline = now_s() + kReap_s;
    while (!(status = reap(child.pid)) && now_s() < deadline) poll_child(deadline, nullptr);
  }

  bool room() const { return !out_ended && out.size() - taken < kReadAhead; }

  /// Sleeps until the child ends, prints, or (given one) takes more input.
  void poll_child(double deadline_s, const Fd* input) {
    constexpr int kWithoutPidfd_ms = 5;
    int wait_ms = poll_timeout_ms(deadline_s);
    if (exited.get() < 0) wait_ms = wait_ms < 0 ? kWithoutPidfd_ms : std::min(wait_ms, kWithoutPidfd_ms);
    pollfd fds[] = {{input == nullptr ? exited.get() : -1, POLLIN, 0},
                    {room() ? child.out.get() : -1, POLLIN, 0},
                    {err_ended ? -1 : child.err.get(), POLLIN, 0},
                    {input == nullptr ? -1 : input->get(), POLLOUT, 0}};
    ::poll(fds, 4, wait_ms);
  }

  std::size_t newline() {
    std::size_t at = out.find('\n', std::max(taken, searched));
    if (at == std::string::npos) searched = out.size();
    return at;
  }

  void drain_stderr() {
    while (!err_ended) {
      ReadState state = read_some(child.err.get(), err);
      if (err.size() > 4 * kTail) err.erase(0, err.size() - kTail);
      if (state == ReadState::kEmpty) return;
      if (state == ReadState::kGot) continue;
      err_ended = true;
      ::epoll_ctl(ready.get(), EPOLL_CTL_DEL, child.err.get(), nullptr);
    }
  }

  /// Takes what stdout has, until a line is complete or `cap` bytes are unread.
  void drain_stdout(std::size_t cap) {
    while (!out_ended && out.size() - taken < cap && newline() == std::string::npos) {
      ReadState state = read_some(child.out.get(), out);
      if (state == ReadState::kEmpty) return;
      if (state == ReadState::kEnd) out_ended = true;
      if (out.size() - taken > kLongestLine) {
        kill_groups(child.pid);
        out.resize(taken);
        out_ended = true;
      }
    }
  }

  std::optional<std::string> take_line() {
    std::size_t end = newline();
    bool last_part = end == std::string::npos && out_ended && taken < out.size();
    if (end == std::string::npos && !last_part) return {};
    if (last_part) end = out.size();
    std::string line = out.substr(taken, end - taken);
    taken = std::min(end + 1, out.size());
    if (taken == out.size() || taken > kReadAhead) {
      out.erase(0, taken);
      taken = searched = 0;
    }
    return line;
  }

  /// Reads ahead of the caller, so that the child is never blocked on its output while we wait for something else.
  void read_ahead() {
    drain_stderr();
    while (!out_ended && out.size() - taken < kReadAhead) {
      ReadState state = read_some(child.out.get(), out);
      if (state == ReadState::kEmpty) return;
      if (state == ReadState::kEnd) out_ended = true;
    }
  }
};

ChildProcess::ChildProcess(const std::vector<std::string>& argv,
                           const std::vector<std::pair<std::string, std::string>>& extra_env)
    : impl_(new Impl(argv, extra_env)) {}
ChildProcess::~ChildProcess() { delete impl_; }
ChildProcess::ChildProcess(ChildProcess&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

bool ChildProcess::write_line(const std::string& line, double timeout_s) {
  const std::string bytes = line + '\n';
  std::string_view left = bytes;
  const double deadline = deadline_from(timeout_s);
  while (!left.empty()) {
    if (impl_->child.in.get() < 0 || impl_->status) return false;
    ssize_t written = write_quietly(impl_->child.in.get(), left);
    if (written > 0) left.remove_prefix(static_cast<std::size_t>(written));
    if (written >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN || poll_timeout_ms(deadline) == 0) return false;
    impl_->poll_child(deadline, &impl_->child.in);
    impl_->read_ahead();
  }
  return true;
}

std::optional<std::string> ChildProcess::read_line(double timeout_s) {
  const double deadline = deadline_from(timeout_s);
  while (true) {
    impl_->drain_stderr();
    impl_->drain_stdout(kLongestLine + 1);
    if (auto line = impl_->take_line()) return line;
    if (impl_->out_ended) return {};
    int wait_ms = poll_timeout_ms(deadline);
    if (wait_ms == 0) return {};
    pollfd fd{impl_->ready.get(), POLLIN, 0};
    ::poll(&fd, 1, wait_ms);
  }
}

bool ChildProcess::at_end() const { return impl_->out_ended && impl_->taken >= impl_->out.size(); }

bool ChildProcess::has_line() const {
  return impl_->newline() != std::string::npos || (impl_->out_ended && impl_->taken < impl_->out.size());
}

void ChildProcess::close_stdin() { impl_->child.in.close(); }

std::optional<ExitStatus> ChildProcess::wait(double timeout_s) {
  const double deadline = deadline_from(timeout_s);
  while (true) {
    impl_->read_ahead();
    if (impl_->status) return impl_->status;
    impl_->status = reap(impl_->child.pid);
    if (impl_->status) continue;  // once more for what it printed last
    if (poll_timeout_ms(deadline) == 0) return {};
    impl_->poll_child(deadline, nullptr);
  }
}

void ChildProcess::kill() {
  if (!impl_->status) kill_groups(impl_->child.pid);
}

std::string ChildProcess::stderr_tail() {
  impl_->drain_stderr();
  const std::string& err = impl_->err;
  return err.size() > kTail ? err.substr(err.size() - kTail) : err;
}

pid_t ChildProcess::pid() const { return impl_->child.pid; }
int ChildProcess::read_fd() const { return impl_->ready.get(); }

void fill_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      // The lowest free descriptor is this one. Nothing can be written to a stdout that is open for reading.
      static_cast<void>(::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY));
}

}  // namespace ktune
