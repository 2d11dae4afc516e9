#pragma once

#include "ktune_types.cuh"

// Moving vectors of 2, 4, 8, 16 or 32 bytes. Every piece of PTX stands here, beside what it means on the host.
//
// Hints. Rows are touched once, the weight again and again. `no_alloc` keeps a row out of L1; `evict_first` (ld.cs,
// st.cs) marks its lines in L2 as the first to go, which leaves room for the lines that a kernel writes.

namespace ktune_kernel {

enum LoadHint { kLoadCached, kLoadNoAlloc, kLoadEvictFirst };
enum StoreHint { kStoreCached, kStoreEvictFirst };

namespace detail {

template <class V>
KTUNE_INLINE V load_as(const void* from, LoadHint hint) {
  const V* pointer = static_cast<const V*>(from);
#ifdef KTUNE_CPU
  (void)hint;
  return *pointer;
#else
  return hint == kLoadEvictFirst ? __ldcs(pointer) : __ldg(pointer);
#endif
}

#ifndef KTUNE_CPU
KTUNE_INLINE uint4 load_no_alloc_16(const void* from) {
  uint4 v;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
      : "l"(from));
  return v;
}
KTUNE_INLINE uint2 load_no_alloc_8(const void* from) {
  uint2 v;
  asm("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(from));
  return v;
}
#endif

template <class V>
KTUNE_INLINE void store_as(void* to, V value, StoreHint hint) {
  V* pointer = static_cast<V*>(to);
#ifdef KTUNE_CPU
  (void)hint;
  *pointer = value;
#else
  if (hint == kStoreEvictFirst) {
    __stcs(pointer, value);
  } else {
    *pointer = value;
  }
#endif
}

}  // namespace detail

/// Reads BYTES from memory that no thread writes during the kernel; the address is a multiple of min(BYTES, 16).
template <int BYTES, LoadHint HINT = kLoadCached>
KTUNE_INLINE Words<BYTES> load_words(const void* from) {
  Words<BYTES> to;
  if constexpr (BYTES >= 16) {
#pragma unroll
    for (int i = 0; i < BYTES / 16; ++i) {
      const void* at = static_cast<const char*>(from) + 16 * i;
#ifdef KTUNE_CPU
      const uint4 v = detail::load_as<uint4>(at, HINT);
#else
      const uint4 v = HINT == kLoadNoAlloc ? detail::load_no_alloc_16(at) : detail::load_as<uint4>(at, HINT);
#endif
      to.word[4 * i] = v.x;
      to.word[4 * i + 1] = v.y;
      to.word[4 * i + 2] = v.z;
      to.word[4 * i + 3] = v.w;
    }
  } else if constexpr (BYTES == 8) {
#ifdef KTUNE_CPU
    const uint2 v = detail::load_as<uint2>(from, HINT);
#else
    const uint2 v = HINT == kLoadNoAlloc ? detail::load_no_alloc_8(from) : detail::load_as<uint2>(from, HINT);
#endif
    to.word[0] = v.x;
    to.word[1] = v.y;
  } else if constexpr (BYTES == 4) {
    to.word[0] = detail::load_as<unsigned>(from, HINT);
  } else {
    to.half = detail::load_as<unsigned short>(from, HINT);
  }
  return to;
}

/// Writes BYTES; the address is a multiple of min(BYTES, 16).
template <int BYTES, StoreHint HINT = kStoreCached>
KTUNE_INLINE void store_words(void* to, const Words<BYTES>& from) {
  if constexpr (BYTES >= 16) {
#pragma unroll
    for (int i = 0; i < BYTES / 16; ++i) {
      const uint4 v = {from.word[4 * i], from.word[4 * i + 1], from.word[4 * i + 2], from.word[4 * i + 3]};
      detail::store_as(static_cast<char*>(to) + 16 * i, v, HINT);
    }
  } else if constexpr (BYTES == 8) {
    const uint2 v = {from.word[0], from.word[1]};
    detail::store_as(to, v, HINT);
  } else if constexpr (BYTES == 4) {
    detail::store_as(to, from.word[0], HINT);
  } else {
    detail::store_as(to, from.half, HINT);
  }
}

template <int BYTES>
KTUNE_INLINE Words<BYTES> zero_words() {
  Words<BYTES> to;
  if constexpr (BYTES == 2) {
    to.half = 0;
  } else {
#pragma unroll
    for (int i = 0; i < BYTES / 4; ++i) to.word[i] = 0;
  }
  return to;
}

/// A zero that the compiler cannot know to be one.
KTUNE_INLINE unsigned opaque_zero() { return gridDim.z - 1; }

/// The same words, which the compiler cannot tell to be the same. It would otherwise carry the unpacked elements from
/// one use to the next, in twice the registers of the packed ones; to unpack them again is cheap. (An empty asm does
/// not do: ptxas sees through it.)
template <int BYTES>
KTUNE_INLINE Words<BYTES> reread(const Words<BYTES>& words, unsigned zero) {
  Words<BYTES> to;
  if constexpr (BYTES == 2) {
    to.half = static_cast<unsigned short>(words.half ^ zero);
  } else {
#pragma unroll
    for (int i = 0; i < BYTES / 4; ++i) to.word[i] = words.word[i] ^ zero;
  }
  return to;
}

/// Shared memory to registers and back; the address is a multiple of min(BYTES, 16).
template <int BYTES>
KTUNE_INLINE Words<BYTES> load_shared(const void* from) {
  Words<BYTES> to;
  if constexpr (BYTES >= 16) {
#pragma unroll
    for (int i = 0; i < BYTES / 16; ++i) {
      const uint4 v = static_cast<const uint4*>(from)[i];
      to.word[4 * i] = v.x;
      to.word[4 * i + 1] = v.y;
      to.word[4 * i + 2] = v.z;
      to.word[4 * i + 3] = v.w;
    }
  } else if constexpr (BYTES == 8) {
    const uint2 v = *static_cast<const uint2*>(from);
    to.word[0] = v.x;
    to.word[1] = v.y;
  } else if constexpr (BYTES == 4) {
    to.word[0] = *static_cast<const unsigned*>(from);
  } else {
    to.half = *static_cast<const unsigned short*>(from);
  }
  return to;
}
template <int BYTES>
KTUNE_INLINE void store_shared(void* to, const Words<BYTES>& from) {
  store_words<BYTES, kStoreCached>(to, from);
}

/// Copies from global to shared memory that a thread starts now and waits for later (cp.async). Each thread waits for
/// its own copies; what other threads copied is there after a barrier too. On the host a copy is made no earlier than
/// the wait for it, so that a kernel which reads before it waits reads what was there before.
class AsyncCopies {
 public:
  /// BYTES is 4, 8 or 16 and divides both addresses.
  template <int BYTES>
  KTUNE_INLINE void copy(void* to, const void* from) {
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cp.async moves 4, 8 or 16 bytes");
#ifdef KTUNE_CPU
    if (end_ - begin_ == kMost) finish_one();
    pending_[end_++ % kMost] = {to, from, BYTES, group_};
#else
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (BYTES == 16) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(BYTES) : "memory");
    }
#endif
  }

  /// Closes a group: the copies since the last call.
  KTUNE_INLINE void commit() {
#ifdef KTUNE_CPU
    ++group_;
#else
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
  }

  /// Waits until at most LEFT of this thread's groups, the newest, are still on their way.
  template <int LEFT>
  KTUNE_INLINE void wait() {
#ifdef KTUNE_CPU
    while (begin_ != end_ && pending_[begin_ % kMost].group < group_ - LEFT) finish_one();
#else
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
#endif
  }

#ifdef KTUNE_CPU
 private:
  struct Pending {
    void* to;
    const void* from;
    int bytes;
    int group;
  };
  static constexpr int kMost = 256;

  void finish_one() {
    const Pending& copy = pending_[begin_++ % kMost];
    __builtin_memcpy(copy.to, copy.from, static_cast<unsigned long>(copy.bytes));
  }

  Pending pending_[kMost];
  int begin_ = 0;
  int end_ = 0;
  int group_ = 0;
#endif
};

/// Lets the next launch of the same call start its blocks now (where it asked to, and the device can): they wait in
/// wait_for_previous_launch until this one has ended and all it wrote can be seen.
KTUNE_INLINE void launch_dependents() {
#if !defined(KTUNE_CPU) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// What the launch before wrote is read with plain loads after this, never with load_words: those may move up.
KTUNE_INLINE void wait_for_previous_launch() {
#if !defined(KTUNE_CPU) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace ktune_kernel
