#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "base/error.h"
#include "base/process.h"

namespace ktune {
namespace {

std::atomic<int> interrupts{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

void on_interrupt(int) {
  if (interrupts.fetch_add(1) > 0) ::_exit(130);
}

}  // namespace

bool interrupted() { return interrupts.load() > 0; }

void install_interrupt_handler() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

}  // namespace ktune
