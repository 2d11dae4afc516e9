#include "device/cpu/crash_report.h"

#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "device/cpu/block_runner.h"

namespace ktune::device::cpu {
namespace {

constexpr std::size_t kSignalStackBytes = 64 * 1024;
constexpr std::string_view kPrefix = "ktune: kernel fault: ";

/// Text built without allocating: a handler may run anywhere.
class LineBuffer {
 public:
  void add(std::string_view text) {
    const std::size_t room = sizeof buffer_ - size_;
    const std::size_t take = text.size() < room ? text.size() : room;
    std::memcpy(buffer_ + size_, text.data(), take);
    size_ += take;
  }
  void add_number(unsigned long value, unsigned base) {
    char digits[24];
    std::size_t at = sizeof digits;
    do {
      digits[--at] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    add({digits + at, sizeof digits - at});
  }
  void add_index(const ktune_cpu::Index3& index) {
    add("(");
    add_number(index.x, 10);
    add(",");
    add_number(index.y, 10);
    add(",");
    add_number(index.z, 10);
    add(")");
  }
  void write_out() const {
    if (write(STDERR_FILENO, buffer_, size_) < 0) return;
  }

 private:
  char buffer_[512];
  std::size_t size_ = 0;
};

std::string_view signal_text(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "segmentation fault";
    case SIGBUS:
      return "bus error";
    case SIGFPE:
      return "arithmetic fault (an integer division by zero)";
    default:
      return "illegal instruction";
  }
}

void on_crash(int signal, siginfo_t* info, void*) {
  LineBuffer line;
  line.add(kPrefix);
  line.add(signal_text(signal));
  const BlockRunner* runner = BlockRunner::current();
  if (runner != nullptr && runner->call() != nullptr && ktune_cpu_self != nullptr) {
    line.add(" in '");
    line.add(runner->call()->name);
    line.add("', block ");
    line.add_index(ktune_cpu_self->block->block_idx);
    line.add(" thread ");
    line.add_index(ktune_cpu_self->thread_idx);
  }
  if (signal == SIGSEGV || signal == SIGBUS) {
    line.add(", address 0x");
    line.add_number(reinterpret_cast<unsigned long>(info->si_addr), 16);
  }
  line.add("\n");
  line.write_out();
  ::signal(signal, SIG_DFL);  // the instruction is tried again, and ends the process
}

}  // namespace

SignalStack::SignalStack() : memory_(std::make_unique<std::byte[]>(kSignalStackBytes)) {
  stack_t stack{};
  stack.ss_sp = memory_.get();
  stack.ss_size = kSignalStackBytes;
  stack_t old{};
  if (sigaltstack(nullptr, &old) == 0 && (old.ss_flags & SS_DISABLE) == 0) {
    memory_.reset();  // a sanitizer gives every thread its own
    return;
  }
  sigaltstack(&stack, nullptr);
}

SignalStack::~SignalStack() {
  if (memory_ == nullptr) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

void install_crash_handlers() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    struct sigaction old{};
    if (sigaction(signal, nullptr, &old) != 0 || (old.sa_flags & SA_SIGINFO) != 0 || old.sa_handler != SIG_DFL)
      continue;
    struct sigaction action{};
    action.sa_sigaction = on_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace ktune::device::cpu
