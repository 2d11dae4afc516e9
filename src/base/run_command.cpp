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

constexpr std::size_t kCapture = 8 << 20;

/// One stream of the child; past the cap it is read and dropped, so that the child is not blocked on it.
struct Capture {
  Fd fd;
  std::string text;
  bool ended = false;

  void drain() {
    while (!ended) {
      ReadState state = read_some(fd.get(), text);
      if (text.size() > kCapture) text.resize(kCapture);
      if (state == ReadState::kEmpty) return;
      if (state == ReadState::kEnd) ended = true;
    }
  }
  int poll_fd() const { return ended ? -1 : fd.get(); }
};

}  // namespace

CommandResult run_command(const std::vector<std::string>& argv, double timeout_s,
                          const std::vector<std::pair<std::string, std::string>>& extra_env) {
  constexpr int kWithoutPidfd_ms = 5;
  Spawned child = spawn(argv, extra_env, false);
  Fd exited(open_pidfd(child.pid));
  Capture out{std::move(child.out), {}};
  Capture err{std::move(child.err), {}};
  CommandResult result;
  double deadline = deadline_from(timeout_s);
  while (true) {
    out.drain();
    err.drain();
    if (auto status = reap(child.pid)) {
      result.status = *status;
      break;
    }
    int wait_ms = poll_timeout_ms(deadline);
    if (wait_ms == 0 && !result.timed_out) {
      result.timed_out = true;
      ::kill(-child.pid, SIGKILL);
      deadline = deadline_from(-1);
      continue;
    }
    if (exited.get() < 0) wait_ms = wait_ms < 0 ? kWithoutPidfd_ms : std::min(wait_ms, kWithoutPidfd_ms);
    pollfd fds[] = {{exited.get(), POLLIN, 0}, {out.poll_fd(), POLLIN, 0}, {err.poll_fd(), POLLIN, 0}};
    ::poll(fds, 3, wait_ms);
  }
  out.drain();
  err.drain();
  result.out = std::move(out.text);
  result.err = std::move(err.text);
  return result;
}

}  // namespace ktune
