#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <memory>
#include <vector>

#include "device/cpu/sanitizer_hooks.h"

// Stacks and the switch between them, over Boost.Context's fcontext: the layer below its `fiber` class, because a
// faulty block is abandoned with its threads where they stand. `fiber` would unwind their stacks through the kernel's
// frames; here a context is forgotten and its stack used again.

namespace ktune::device::cpu {

/// A stack and, while it does not run, where it stands.
class Fiber {
 public:
  using Body = void (*)(void* argument);

  /// A stack of `size` bytes from `bottom`. Nothing is run yet.
  Fiber(std::byte* bottom, std::size_t size, std::size_t stagger);
  /// The thread's own stack: what runs when no fiber does.
  Fiber() = default;
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Makes the next switch here call body(argument), which must never return.
  void start(Body body, void* argument);
  /// Stops `from`, which must be the running one, and continues this one. Returns when something switches to `from`.
  void switch_from(Fiber& from);
  /// Forgets whatever stands on the stack.
  void abandon();

 private:
  static void enter(boost::context::detail::transfer_t transfer);
  static void arrive(boost::context::detail::transfer_t transfer, void* fake_stack);

  std::byte* bottom_ = nullptr;
  std::size_t size_ = 0;
  std::size_t stagger_ = 0;
  boost::context::detail::fcontext_t context_ = nullptr;
  Body body_ = nullptr;
  void* argument_ = nullptr;
  void* tsan_ = nullptr;   ///< ThreadSanitizer's name of it
  bool own_stack_ = true;  ///< the thread's, not ours
};

/// Fibers in one mapping, each stack above a guard page. Grows on demand, up to `capacity` fibers.
class FiberStacks {
 public:
  FiberStacks(std::size_t capacity, std::size_t stack_bytes);
  ~FiberStacks();
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;

  /// Fiber `index`, made if it is the next one. Null when the system gives no memory.
  Fiber* get(std::size_t index);
  std::size_t made() const { return fibers_.size(); }

 private:
  std::size_t capacity_;
  std::size_t stack_bytes_;
  std::byte* base_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers_;
};

}  // namespace ktune::device::cpu
