#include "device/cpu/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace ktune::device::cpu {
namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

/// What travels with a switch.
struct Switch {
  Fiber* from;
  Fiber* to;
};

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

Fiber::Fiber(std::byte* bottom, std::size_t size, std::size_t stagger)
    : bottom_(bottom), size_(size), stagger_(stagger), own_stack_(false) {}

Fiber::~Fiber() {
  // A thread's own stack is not ours to end.
  if (tsan_ != nullptr && !own_stack_) sanitizer_hooks().tsan_destroy(tsan_);
}

void Fiber::start(Body body, void* argument) {
  body_ = body;
  argument_ = argument;
  // Equal tops would put the hot part of every stack on the same cache sets, which costs half of the speed.
  context_ = make_fcontext(bottom_ + size_ - stagger_, size_ - stagger_, &Fiber::enter);
}

void Fiber::switch_from(Fiber& from) {
  Switch data{&from, this};
  void* fake_stack = nullptr;
  const SanitizerHooks& hooks = sanitizer_hooks();
  if (hooks.thread()) {
    if (from.tsan_ == nullptr) from.tsan_ = hooks.tsan_current();
    if (tsan_ == nullptr) tsan_ = hooks.tsan_create(0);
    hooks.tsan_switch(tsan_, 0);
  }
  if (hooks.address()) hooks.start_switch(&fake_stack, bottom_, size_);
  arrive(jump_fcontext(context_, &data), fake_stack);
}

/// The first thing on the stack that was switched to: keeps where the other one stands.
void Fiber::arrive(transfer_t transfer, void* fake_stack) {
  const auto* data = static_cast<const Switch*>(transfer.data);
  data->from->context_ = transfer.fctx;
  const SanitizerHooks& hooks = sanitizer_hooks();
  if (!hooks.address()) return;
  const void* bottom = nullptr;
  std::size_t size = 0;
  hooks.finish_switch(fake_stack, &bottom, &size);
  if (data->from->bottom_ == nullptr) {  // the thread's own stack: only the sanitizer knows where it lies
    data->from->bottom_ = const_cast<std::byte*>(static_cast<const std::byte*>(bottom));
    data->from->size_ = size;
  }
}

void Fiber::enter(transfer_t transfer) {
  Fiber* self = static_cast<const Switch*>(transfer.data)->to;
  arrive(transfer, nullptr);
  self->body_(self->argument_);
  __builtin_trap();
}

void Fiber::abandon() {
  context_ = nullptr;
  const SanitizerHooks& hooks = sanitizer_hooks();
  if (tsan_ != nullptr) hooks.tsan_destroy(tsan_);
  tsan_ = nullptr;
  if (hooks.address()) hooks.unpoison(bottom_, size_);
}

FiberStacks::FiberStacks(std::size_t capacity, std::size_t stack_bytes)
    : capacity_(capacity), stack_bytes_(stack_bytes) {
  void* mapped = mmap(nullptr, capacity_ * (stack_bytes_ + page_bytes()), PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped != MAP_FAILED) base_ = static_cast<std::byte*>(mapped);
}

FiberStacks::~FiberStacks() {
  if (base_ == nullptr) return;
  // AddressSanitizer keeps its notes of these addresses; whoever maps them next must not inherit them.
  const SanitizerHooks& hooks = sanitizer_hooks();
  if (hooks.address()) hooks.unpoison(base_, capacity_ * (stack_bytes_ + page_bytes()));
  munmap(base_, capacity_ * (stack_bytes_ + page_bytes()));
}

Fiber* FiberStacks::get(std::size_t index) {
  while (fibers_.size() <= index) {
    if (base_ == nullptr || fibers_.size() == capacity_) return nullptr;
    std::byte* bottom = base_ + fibers_.size() * (stack_bytes_ + page_bytes()) + page_bytes();
    if (mprotect(bottom, stack_bytes_, PROT_READ | PROT_WRITE) != 0) return nullptr;
    fibers_.push_back(std::make_unique<Fiber>(bottom, stack_bytes_, (fibers_.size() % 61) * 64));
  }
  return fibers_[index].get();
}

}  // namespace ktune::device::cpu
