#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "base/error.h"
#include "base/process.h"

namespace ktune {
namespace {

/// timeout(1) signals its child and then its whole group, the child again: taken as a second Ctrl-C this ended the
/// process at once and left temporary folders behind.
constexpr std::int64_t kOneSignalNs = 200'000'000;

std::atomic<std::int64_t> first_ns{0};  ///< 0: none yet
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

std::atomic<bool> ends_at_once{false};

void on_interrupt(int) {
  if (ends_at_once) {
    constexpr std::string_view kText = "ktune: error: interrupted\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kText.data(), kText.size());
    ::_exit(130);
  }
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);  // safe in a handler, unlike most
  const std::int64_t now_ns = now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
  std::int64_t first = 0;
  if (first_ns.compare_exchange_strong(first, now_ns)) return;
  if (now_ns - first > kOneSignalNs) ::_exit(130);
}

}  // namespace

EndsAtInterrupt::EndsAtInterrupt() {
  std::fflush(stdout);  // _exit does not
  ends_at_once = true;
  if (!interrupted()) return;
  ends_at_once = false;
  throw Error(ErrorKind::kInterrupted, "interrupted");
}

EndsAtInterrupt::~EndsAtInterrupt() { ends_at_once = false; }

bool interrupted() { return first_ns.load() != 0; }

void install_interrupt_handler() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before{};
    ::sigaction(signal, nullptr, &before);
    if (signal == SIGHUP && before.sa_handler == SIG_IGN) continue;  // nohup
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace ktune
