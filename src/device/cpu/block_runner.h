#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/cpu/fiber.h"
#include "device/cpu/simt_abi.h"

// Runs the blocks of a gang on one OS thread, their threads as fibers. A gang is one block today; it is the set whose
// blocks are scheduled together, which is what a cluster needs.
//
// A fiber runs one thread after another to its end; only a thread that waits makes the next one start on another
// fiber. So a kernel without barriers never switches stacks, and a block's threads start in order.
//
// Everything that a GPU would hang on or leave undefined and that can be seen here ends the gang with a text that names
// the lines: a barrier that not all threads reach, warp operations that do not meet, a lane that a mask does not name,
// a lane read that is not there. It is seen when nothing in the gang can run, or at the call itself. A thread that has
// returned counts as missing: hardware forgives that at some barriers, but CUDA does not promise it.

namespace ktune::device::cpu {

/// A launch as every block sees it.
struct KernelCall {
  void (*run)(const void* const* args) = nullptr;
  const void* const* args = nullptr;
  ktune_cpu::Index3 grid{1, 1, 1};
  ktune_cpu::Index3 block{1, 1, 1};
  const char* name = "";
};

class BlockRunner {
 public:
  /// Stacks of `stack_bytes` for at most `max_threads` threads of a gang; memory is taken as it is used.
  BlockRunner(int max_threads, std::size_t stack_bytes);
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  /// Runs the blocks of a gang to their end. The text of a fault, if there was one; the runner is usable afterwards.
  std::optional<std::string> run(const KernelCall& call, std::span<const ktune_cpu::Index3> gang);

  /// The runner of this OS thread while it runs a gang, else null.
  static BlockRunner* current();
  /// "block (0,0,0) thread (5,0,0)" of the running thread.
  std::string whereabouts() const;
  const KernelCall* call() const { return call_; }

  // --- called by kernels, through the functions of simt_abi.h
  ktune_cpu::BarrierResult barrier(int id, int threads, int predicate, ktune_cpu::Site site);
  std::uint64_t warp(const ktune_cpu::WarpCall& call);
  void yield();
  [[noreturn]] void fault(std::string text);

 private:
  enum class State : std::uint8_t { kNotStarted, kReady, kRunning, kAtBarrier, kInWarp, kReturned };

  struct Block;
  struct Thread : ktune_cpu::ThreadView {
    State state = State::kNotStarted;
    Block* owner = nullptr;
    unsigned index = 0;  ///< in the block
    Fiber* fiber = nullptr;
    ktune_cpu::Site site{};  ///< where it waits
    int barrier = 0;
    ktune_cpu::WarpCall call{};
    std::uint64_t result = 0;
    ktune_cpu::BarrierResult barrier_result{};
  };
  /// Threads of a warp that are at the same call with the same mask.
  struct Group {
    ktune_cpu::Site site;
    ktune_cpu::WarpOp op;
    unsigned mask;
    unsigned arrived;
  };
  struct Warp {
    unsigned existing = 0;  ///< lanes that the block has
    std::vector<Group> groups;
  };
  struct Barrier {
    ktune_cpu::Site site{};
    int arrived = 0;
    int expected = 0;
    ktune_cpu::BarrierResult result{};
  };
  struct Block {
    ktune_cpu::BlockView view{};
    Thread* threads = nullptr;
    unsigned count = 0;
    std::vector<Warp> warps;
    Barrier barriers[16];
  };

  void set_up(std::span<const ktune_cpu::Index3> gang);
  static void fiber_body(void* runner);
  void run_threads();
  void run_thread(Thread& thread);
  void wait();
  void make_ready(Thread& thread);
  Thread* pop_ready();
  void resume(Thread& thread, Fiber& from);
  void start_another(Fiber& from);
  void leave_gang(Fiber& from);
  void on_stuck();
  bool release_active_mask();
  void complete(Warp& warp, Thread* lanes, std::size_t group);
  std::uint64_t combine(const Group& group, const Thread* lanes, unsigned present, unsigned lane);
  std::string who_waits() const;
  std::string describe(const Thread& thread) const;

  FiberStacks stacks_;
  Fiber main_;
  Fiber* running_ = nullptr;
  std::vector<Fiber*> idle_;
  std::size_t used_fibers_ = 0;
  const KernelCall* call_ = nullptr;
  std::vector<Block> blocks_;
  std::vector<Thread> threads_;
  std::size_t next_unstarted_ = 0;
  std::size_t returned_ = 0;
  std::vector<Thread*> ready_;  ///< a ring of threads_.size() + 1 places
  std::size_t ready_head_ = 0;
  std::size_t ready_tail_ = 0;
  std::optional<std::string> fault_;
};

}  // namespace ktune::device::cpu
