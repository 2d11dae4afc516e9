#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <string_view>

#include "base/process.h"
#include "base/spawn.h"
#include "base/text.h"

namespace ktune {

std::string ExitStatus::text() const {
  if (signal == 0) return fmt::format("exit code {}", code);
  const char* name = sigabbrev_np(signal);
  const char* description = sigdescr_np(signal);
  if (name == nullptr || description == nullptr) return fmt::format("killed by signal {}", signal);
  std::string words = description;
  bool acronym = words.size() > 1 && words[1] >= 'A' && words[1] <= 'Z';
  if (!acronym && words[0] >= 'A' && words[0] <= 'Z') words[0] = static_cast<char>(words[0] - 'A' + 'a');
  return fmt::format("killed by SIG{} ({})", name, words);
}

namespace {

/// One stream of the child; past the cap it is read and dropped, so that the child is not blocked on it.
struct Capture {
  Fd fd;
  std::size_t cap;
  std::string text;
  bool ended = false;
  bool cut = false;

  /// Takes what is there, but not forever: of a child that prints without end there always is more.
  void drain() {
    constexpr int kReads = 64;
    for (int i = 0; i < kReads && !ended; ++i) {
      ReadState state = read_some(fd.get(), text);
      if (text.size() > cap) {
        text.resize(cap);
        cut = true;
      }
      if (state == ReadState::kEmpty) return;
      if (state == ReadState::kEnd) ended = true;
    }
  }
  int poll_fd() const { return ended ? -1 : fd.get(); }
};

/// How long to sleep at most. A signal may be another thread's, and without a pidfd nothing tells of the child's end.
int poll_limit_ms(bool without_pidfd, bool ends_at_interrupt) {
  constexpr int kWithoutPidfd_ms = 5, kInterrupt_ms = 100;
  if (without_pidfd) return kWithoutPidfd_ms;
  return ends_at_interrupt ? kInterrupt_ms : -1;
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& argv, double timeout_s,
                          const std::vector<std::pair<std::string, std::string>>& extra_env,
                          const CommandLimits& limits) {
  Spawned child = spawn(argv, extra_env, false);
  Fd exited(open_pidfd(child.pid));
  Capture out{std::move(child.out), limits.stream_bytes, {}};
  Capture err{std::move(child.err), limits.stream_bytes, {}};
  CommandResult result;
  double deadline = deadline_from(timeout_s);
  const int longest_ms = poll_limit_ms(exited.get() < 0, limits.ends_at_interrupt);
  while (true) {
    out.drain();
    err.drain();
    if (auto status = reap(child.pid)) {
      result.status = *status;
      break;
    }
    int wait_ms = poll_timeout_ms(deadline);
    const bool killed = result.timed_out || result.interrupted;
    if (!killed && (wait_ms == 0 || (limits.ends_at_interrupt && interrupted()))) {
      result.timed_out = wait_ms == 0;
      result.interrupted = !result.timed_out;
      ::kill(-child.pid, SIGKILL);
      deadline = deadline_from(-1);
      continue;
    }
    if (longest_ms >= 0) wait_ms = wait_ms < 0 ? longest_ms : std::min(wait_ms, longest_ms);
    pollfd fds[] = {{exited.get(), POLLIN, 0}, {out.poll_fd(), POLLIN, 0}, {err.poll_fd(), POLLIN, 0}};
    ::poll(fds, 3, wait_ms);
  }
  out.drain();
  err.drain();
  result.cut = out.cut || err.cut;
  result.out = std::move(out.text);
  result.err = std::move(err.text);
  return result;
}

}  // namespace ktune
