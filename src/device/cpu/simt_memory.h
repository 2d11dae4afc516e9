#pragma once

// Loads and stores with cache hints (plain ones here), fences and atomics. Blocks run on several OS threads, so atomics
// are real ones.

#define KTUNE_CPU_LOAD(name)        \
  template <class T>                \
  inline T name(const T* pointer) { \
    return *pointer;                \
  }
KTUNE_CPU_LOAD(__ldg)
KTUNE_CPU_LOAD(__ldca)
KTUNE_CPU_LOAD(__ldcg)
KTUNE_CPU_LOAD(__ldcs)
KTUNE_CPU_LOAD(__ldlu)
KTUNE_CPU_LOAD(__ldcv)
#undef KTUNE_CPU_LOAD

#define KTUNE_CPU_STORE(name)                                     \
  template <class T>                                              \
  inline void name(T* pointer, std::enable_if_t<true, T> value) { \
    *pointer = value;                                             \
  }
KTUNE_CPU_STORE(__stwb)
KTUNE_CPU_STORE(__stcg)
KTUNE_CPU_STORE(__stcs)
KTUNE_CPU_STORE(__stwt)
#undef KTUNE_CPU_STORE

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
/// A thread that sleeps waits for another one: let the block's others run.
inline void __nanosleep(unsigned) { ktune_cpu_yield(); }
inline long long clock64() { return static_cast<long long>(__builtin_ia32_rdtsc()); }

namespace ktune_cpu {

/// Replaces *address by change(*address) in one step; the value before. For types up to eight bytes.
template <class T, class Change>
inline T exchanged(T* address, Change change) {
  using Word = std::conditional_t<sizeof(T) == 8, unsigned long long,
                                  std::conditional_t<sizeof(T) == 4, unsigned, unsigned short>>;
  static_assert(sizeof(Word) == sizeof(T), "atomics take 2, 4 or 8 bytes");
  auto* word = reinterpret_cast<Word*>(address);
  Word before = __atomic_load_n(word, __ATOMIC_RELAXED);
  for (;;) {
    const T old = from_bits<T>(before);
    const Word after = static_cast<Word>(to_bits(static_cast<T>(change(old))));
    if (__atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) return old;
  }
}

}  // namespace ktune_cpu

// Scopes (_block, _system) are the same on the host.
#define KTUNE_CPU_ATOMIC_ONE(name, type, expression)                                \
  inline type name(type* address, type value) {                                     \
    return ktune_cpu::exchanged(address, [value](type old) { return expression; }); \
  }
#define KTUNE_CPU_ATOMIC(name, type, expression)       \
  KTUNE_CPU_ATOMIC_ONE(name, type, expression)         \
  KTUNE_CPU_ATOMIC_ONE(name##_block, type, expression) \
  KTUNE_CPU_ATOMIC_ONE(name##_system, type, expression)
#define KTUNE_CPU_ATOMIC_INTEGERS(name, expression) \
  KTUNE_CPU_ATOMIC(name, int, expression)           \
  KTUNE_CPU_ATOMIC(name, unsigned, expression)      \
  KTUNE_CPU_ATOMIC(name, unsigned long long, expression)

KTUNE_CPU_ATOMIC_INTEGERS(atomicAdd, old + value)
KTUNE_CPU_ATOMIC(atomicAdd, float, old + value)
KTUNE_CPU_ATOMIC(atomicAdd, double, old + value)
KTUNE_CPU_ATOMIC(atomicAdd, __half, __float2half_rn(__half2float(old) + __half2float(value)))
KTUNE_CPU_ATOMIC(atomicAdd, __nv_bfloat16, __float2bfloat16_rn(__bfloat162float(old) + __bfloat162float(value)))
KTUNE_CPU_ATOMIC(atomicAdd, __half2, __hadd2(old, value))
KTUNE_CPU_ATOMIC(atomicAdd, __nv_bfloat162, __hadd2(old, value))
KTUNE_CPU_ATOMIC(atomicSub, int, old - value)
KTUNE_CPU_ATOMIC(atomicSub, unsigned, old - value)
KTUNE_CPU_ATOMIC_INTEGERS(atomicExch, (static_cast<void>(old), value))
KTUNE_CPU_ATOMIC(atomicExch, float, (static_cast<void>(old), value))
KTUNE_CPU_ATOMIC_INTEGERS(atomicMin, value < old ? value : old)
KTUNE_CPU_ATOMIC(atomicMin, long long, value < old ? value : old)
KTUNE_CPU_ATOMIC_INTEGERS(atomicMax, old < value ? value : old)
KTUNE_CPU_ATOMIC(atomicMax, long long, old < value ? value : old)
KTUNE_CPU_ATOMIC_INTEGERS(atomicAnd, old& value)
KTUNE_CPU_ATOMIC_INTEGERS(atomicOr, old | value)
KTUNE_CPU_ATOMIC_INTEGERS(atomicXor, old ^ value)
KTUNE_CPU_ATOMIC(atomicInc, unsigned, old >= value ? 0u : old + 1u)
KTUNE_CPU_ATOMIC(atomicDec, unsigned, old == 0u || old > value ? value : old - 1u)
#undef KTUNE_CPU_ATOMIC_INTEGERS
#undef KTUNE_CPU_ATOMIC
#undef KTUNE_CPU_ATOMIC_ONE

#define KTUNE_CPU_CAS(name, type)                                                                        \
  inline type name(type* address, type expected, type desired) {                                         \
    __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return expected;                                                                                     \
  }
#define KTUNE_CPU_CAS_SCOPES(type)     \
  KTUNE_CPU_CAS(atomicCAS, type)       \
  KTUNE_CPU_CAS(atomicCAS_block, type) \
  KTUNE_CPU_CAS(atomicCAS_system, type)
KTUNE_CPU_CAS_SCOPES(int)
KTUNE_CPU_CAS_SCOPES(unsigned)
KTUNE_CPU_CAS_SCOPES(unsigned short)
KTUNE_CPU_CAS_SCOPES(unsigned long long)
#undef KTUNE_CPU_CAS_SCOPES
#undef KTUNE_CPU_CAS
