#pragma once

// What a compiled kernel and the CPU device's runtime agree on. Plain C++17 without CUDA's headers: both sides take it.
//
// A kernel's shared object exports `ktune_cpu_abi_version` and the array `ktune_cpu_entries`, ended by an entry without
// a name, and calls the `ktune_cpu_*` functions of the program that loaded it.

namespace ktune_cpu {

/// Raise it when anything here changes its meaning: an object of another version is not loaded.
constexpr int kAbiVersion = 1;

struct Index3 {
  unsigned x, y, z;
};

/// What every thread of a block sees.
struct BlockView {
  Index3 block_idx;
  Index3 block_dim;
  Index3 grid_dim;
};

/// What one thread sees.
struct ThreadView {
  Index3 thread_idx;
  const BlockView* block;
  unsigned lane;
};

/// Where a kernel called something: names from the kernel's own text.
struct Site {
  const char* name;
  const char* file;
  int line;
};

enum WarpOp : int {
  kShuffle,    ///< the value of lane `source`
  kVote,       ///< low half: lanes whose value is not 0; high half: the lanes that took part
  kMatch,      ///< lanes whose value equals the caller's
  kReduceAdd,  ///< of 32-bit words, as the rest
  kReduceMinSigned,
  kReduceMaxSigned,
  kReduceMinUnsigned,
  kReduceMaxUnsigned,
  kReduceAnd,
  kReduceOr,
  kReduceXor,
  kActive,  ///< the lanes that arrive here while nothing else can run
};

/// One lane's part of a warp operation.
struct WarpCall {
  Site site;
  WarpOp op;
  unsigned mask;
  int source;
  unsigned long long value;
};

/// What __syncthreads_* return, all of them at once.
struct BarrierResult {
  int count;
  int all;
  int any;
};

enum ParameterKind : int { kPointer, kInteger, kReal, kOther };
struct Parameter {
  int bytes;
  ParameterKind kind;
};

/// One kernel. `run` executes it for the current thread; args[i] points at the bytes of parameter i.
struct Entry {
  const char* name;
  void (*run)(const void* const* args);
  const Parameter* parameters;
  int parameter_count;
};

}  // namespace ktune_cpu

extern "C" {

/// The running thread of the running block. A fiber never leaves its OS thread, so its address may be kept.
extern __thread ktune_cpu::ThreadView* ktune_cpu_self;
/// The running block's dynamic shared memory.
extern __thread void* ktune_cpu_dynamic_shared;

/// Waits until every thread of the block is here (barrier 0), or `threads` threads are (1 to 15).
ktune_cpu::BarrierResult ktune_cpu_barrier(int barrier, int threads, int predicate, ktune_cpu::Site site);
unsigned long long ktune_cpu_warp(const ktune_cpu::WarpCall* call);
/// Lets the block's other threads run: for loops that wait for memory to change.
void ktune_cpu_yield();
/// Ends the launch with a message that names the site.
[[noreturn]] void ktune_cpu_fault(const char* what, ktune_cpu::Site site);
/// An access that the compiler's checks found wrong: null, misaligned, or beyond an array.
[[noreturn]] void ktune_cpu_bad_access(int kind, unsigned long alignment, unsigned long address, const char* type,
                                       const char* file, unsigned line);
}
