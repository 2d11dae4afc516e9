#include "device/cpu/block_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"

extern "C" {
__thread ktune_cpu::ThreadView* ktune_cpu_self = nullptr;
__thread void* ktune_cpu_dynamic_shared = nullptr;
}

namespace ktune::device::cpu {
namespace {

thread_local BlockRunner* current_runner = nullptr;

}  // namespace

// Texts of faults are finished before fault() is called: nothing on an abandoned stack is ever destroyed.
static std::string bad_access_text(int kind, unsigned long alignment, unsigned long address, const char* type,
                                   const char* file, unsigned line, const std::string& where) {
  std::string what;
  if (kind == 1) {
    what = fmt::format("index {} is outside of {}", static_cast<long>(address), type);
  } else if (address == 0) {
    what = fmt::format("access through a null pointer to {}", type);
  } else {
    what = fmt::format("misaligned access to {}: address {:#x} is not a multiple of {}", type, address, alignment);
  }
  return fmt::format("{}:{}: {}, {}", file, line, what, where);
}

BlockRunner::BlockRunner(int max_threads, std::size_t stack_bytes)
    : stacks_(static_cast<std::size_t>(max_threads), stack_bytes) {}

BlockRunner::~BlockRunner() = default;

BlockRunner* BlockRunner::current() { return current_runner; }

void BlockRunner::set_up(std::span<const ktune_cpu::Index3> gang) {
  const ktune_cpu::Index3 shape = call_->block;
  const unsigned count = shape.x * shape.y * shape.z;
  const std::size_t total = count * gang.size();
  if (threads_.size() != total || blocks_.size() != gang.size()) {
    threads_.assign(total, Thread{});
    blocks_.assign(gang.size(), Block{});
    ready_.assign(total + 1, nullptr);
  }
  for (std::size_t b = 0; b < gang.size(); ++b) {
    Block& block = blocks_[b];
    block.view = {gang[b], shape, call_->grid};
    block.threads = threads_.data() + b * count;
    block.count = count;
    block.warps.resize((count + 31) / 32);
    for (std::size_t w = 0; w < block.warps.size(); ++w) {
      const std::size_t lanes = std::min<std::size_t>(32, count - 32 * w);
      block.warps[w].existing = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
      block.warps[w].groups.clear();
    }
    for (Barrier& barrier : block.barriers) barrier.arrived = 0;
    unsigned i = 0;
    for (unsigned z = 0; z < shape.z; ++z) {
      for (unsigned y = 0; y < shape.y; ++y) {
        for (unsigned x = 0; x < shape.x; ++x, ++i) {
          Thread& thread = block.threads[i];
          thread.thread_idx = {x, y, z};
          thread.block = &block.view;
          thread.lane = i % 32;
          thread.state = State::kNotStarted;
          thread.owner = &block;
          thread.index = i;
        }
      }
    }
  }
  next_unstarted_ = 0;
  returned_ = 0;
  ready_head_ = ready_tail_ = 0;
  fault_.reset();
}

std::optional<std::string> BlockRunner::run(const KernelCall& call, std::span<const ktune_cpu::Index3> gang) {
  call_ = &call;
  set_up(gang);
  current_runner = this;
  running_ = &main_;
  start_another(main_);  // comes back when every thread has returned, or at a fault
  current_runner = nullptr;
  ktune_cpu_self = nullptr;
  if (fault_) {
    // Threads stand in the middle of their kernel: forget them all.
    for (std::size_t i = 0; i < stacks_.made(); ++i) stacks_.get(i)->abandon();
    idle_.clear();
    used_fibers_ = 0;
  }
  call_ = nullptr;
  return std::move(fault_);
}

void BlockRunner::fiber_body(void* runner) {
  auto* self = static_cast<BlockRunner*>(runner);
  for (;;) self->run_threads();
}

/// Runs threads until none is left to start, then hands over to one that waited, or to main.
void BlockRunner::run_threads() {
  while (next_unstarted_ < threads_.size()) run_thread(threads_[next_unstarted_++]);
  Fiber& self = *running_;
  idle_.push_back(&self);
  if (Thread* next = pop_ready()) return resume(*next, self);
  if (returned_ == threads_.size()) return leave_gang(self);
  idle_.pop_back();
  on_stuck();
  idle_.push_back(&self);
  resume(*pop_ready(), self);
}

void BlockRunner::run_thread(Thread& thread) {
  thread.state = State::kRunning;
  thread.fiber = running_;
  ktune_cpu_self = &thread;
  call_->run(call_->args);
  thread.state = State::kReturned;
  ++returned_;
}

/// The running thread cannot go on: something else runs until it is ready again.
void BlockRunner::wait() {
  auto& self = static_cast<Thread&>(*ktune_cpu_self);
  if (next_unstarted_ < threads_.size()) {
    start_another(*self.fiber);
  } else {
    Thread* next = pop_ready();
    if (next == nullptr) {
      on_stuck();
      next = pop_ready();
    }
    if (next != &self) resume(*next, *self.fiber);
  }
  ktune_cpu_self = &self;
  self.state = State::kRunning;
}

void BlockRunner::make_ready(Thread& thread) {
  thread.state = State::kReady;
  ready_[ready_tail_] = &thread;
  if (++ready_tail_ == ready_.size()) ready_tail_ = 0;
}

BlockRunner::Thread* BlockRunner::pop_ready() {
  if (ready_head_ == ready_tail_) return nullptr;
  Thread* thread = ready_[ready_head_];
  if (++ready_head_ == ready_.size()) ready_head_ = 0;
  return thread;
}

void BlockRunner::resume(Thread& thread, Fiber& from) {
  running_ = thread.fiber;
  thread.fiber->switch_from(from);
  running_ = &from;
}

/// Lets a fiber without a thread take the next thread that has not started.
void BlockRunner::start_another(Fiber& from) {
  Fiber* fiber = nullptr;
  if (!idle_.empty()) {
    fiber = idle_.back();
    idle_.pop_back();
  } else {
    fiber = stacks_.get(used_fibers_);
    if (fiber == nullptr) {
      if (&from == &main_) {
        fault_ = "no memory for the stacks of a block's threads";
        return;
      }
      fault("no memory for the stacks of a block's threads");
    }
    ++used_fibers_;
    fiber->start(&BlockRunner::fiber_body, this);
  }
  running_ = fiber;
  fiber->switch_from(from);
  running_ = &from;
}

void BlockRunner::leave_gang(Fiber& from) {
  running_ = &main_;
  main_.switch_from(from);
  running_ = &from;
}

void BlockRunner::fault(std::string text) {
  fault_ = std::move(text);
  leave_gang(*running_);
  bug("an abandoned fiber ran again", __FILE__, __LINE__);
}

void BlockRunner::yield() {
  make_ready(static_cast<Thread&>(*ktune_cpu_self));
  wait();
}

ktune_cpu::BarrierResult BlockRunner::barrier(int id, int threads, int predicate, ktune_cpu::Site site) {
  auto& self = static_cast<Thread&>(*ktune_cpu_self);
  Block& block = *self.owner;
  if (id < 0 || id > 15) {
    std::string text = fmt::format("{}:{}: barrier {} does not exist: 0 to 15 do", site.file, site.line, id);
    fault(std::move(text));
  }
  Barrier& barrier = block.barriers[id];
  const int expected = id == 0 ? static_cast<int>(block.count) : threads;
  if (barrier.arrived == 0) {
    barrier = {site, 0, expected, {0, 1, 0}};
  } else if (id == 0 && (barrier.site.line != site.line || std::strcmp(barrier.site.file, site.file) != 0)) {
    std::string text = fmt::format("{}:{}: {} of {} meets the {} at {}:{}, where {} of the block's {} threads wait",
                                   site.file, site.line, site.name, describe(self), barrier.site.name,
                                   barrier.site.file, barrier.site.line, barrier.arrived, block.count);
    fault(std::move(text));
  }
  barrier.result.count += predicate != 0;
  barrier.result.all &= predicate != 0;
  barrier.result.any |= predicate != 0;
  if (++barrier.arrived < barrier.expected) {
    self.state = State::kAtBarrier;
    self.site = site;
    self.barrier = id;
    wait();
    return self.barrier_result;
  }
  barrier.arrived = 0;
  for (unsigned i = 0; i < block.count; ++i) {
    Thread& other = block.threads[i];
    if (other.state != State::kAtBarrier || other.barrier != id) continue;
    other.barrier_result = barrier.result;
    make_ready(other);
  }
  return barrier.result;
}

}  // namespace ktune::device::cpu

extern "C" {

ktune_cpu::BarrierResult ktune_cpu_barrier(int barrier, int threads, int predicate, ktune_cpu::Site site) {
  return ktune::device::cpu::BlockRunner::current()->barrier(barrier, threads, predicate, site);
}

unsigned long long ktune_cpu_warp(const ktune_cpu::WarpCall* call) {
  return ktune::device::cpu::BlockRunner::current()->warp(*call);
}

void ktune_cpu_yield() { ktune::device::cpu::BlockRunner::current()->yield(); }

void ktune_cpu_fault(const char* what, ktune_cpu::Site site) {
  auto* runner = ktune::device::cpu::BlockRunner::current();
  std::string text = fmt::format("{}:{}: {} ({}), {}", site.file, site.line, what, site.name, runner->whereabouts());
  runner->fault(std::move(text));
}

void ktune_cpu_bad_access(int kind, unsigned long alignment, unsigned long address, const char* type, const char* file,
                          unsigned line) {
  auto* runner = ktune::device::cpu::BlockRunner::current();
  std::string text =
      ktune::device::cpu::bad_access_text(kind, alignment, address, type, file, line, runner->whereabouts());
  runner->fault(std::move(text));
}
}
