#pragma once

#include <cstddef>
#include <memory>

// What is left to say when a kernel kills its process. The parent reads the worker's stderr, and the last line of it
// becomes the trial's reason.

namespace ktune::device::cpu {

/// A signal stack for the calling OS thread: a kernel that overflows its own stack leaves none to report on.
class SignalStack {
 public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  std::unique_ptr<std::byte[]> memory_;
};

/// On SIGSEGV, SIGBUS, SIGFPE and SIGILL writes "ktune: kernel fault: …" with the kernel, block, thread and address to
/// stderr, then dies of the signal. Leaves handlers that another tool has set.
void install_crash_handlers();

}  // namespace ktune::device::cpu
