#pragma once

// Barriers, shuffles and votes. Each call carries the place it was written at (a default argument is evaluated at the
// call), so that the runtime can tell two shuffles apart and say where threads wait.

#define KTUNE_CPU_SITE const char *ktune_file = __builtin_FILE(), int ktune_line = __builtin_LINE()
#define KTUNE_CPU_HERE(name) \
  ktune_cpu::Site { name, ktune_file, ktune_line }

inline void __syncthreads(KTUNE_CPU_SITE) { ktune_cpu_barrier(0, 0, 0, KTUNE_CPU_HERE("__syncthreads")); }
inline int __syncthreads_count(int predicate, KTUNE_CPU_SITE) {
  return ktune_cpu_barrier(0, 0, predicate, KTUNE_CPU_HERE("__syncthreads_count")).count;
}
inline int __syncthreads_and(int predicate, KTUNE_CPU_SITE) {
  return ktune_cpu_barrier(0, 0, predicate, KTUNE_CPU_HERE("__syncthreads_and")).all;
}
inline int __syncthreads_or(int predicate, KTUNE_CPU_SITE) {
  return ktune_cpu_barrier(0, 0, predicate, KTUNE_CPU_HERE("__syncthreads_or")).any;
}

namespace ktune_cpu {

/// PTX's `bar.sync barrier, threads`, for host twins in kernels/include: barriers 1 to 15.
inline void named_barrier(int barrier, int threads, KTUNE_CPU_SITE) {
  ktune_cpu_barrier(barrier, threads, 0, KTUNE_CPU_HERE("named barrier"));
}

inline unsigned long long warp(WarpOp op, unsigned mask, unsigned long long value, int source, Site site) {
  const WarpCall call{site, op, mask, source, value};
  return ktune_cpu_warp(&call);
}

// Which lane a shuffle reads: the arithmetic of PTX's shfl.sync, with its clamp and segment masks.
inline int lane_of_index(int lane, int index, int width) { return (lane & ~(width - 1)) | (index & (width - 1)); }
inline int lane_above(int lane, unsigned delta, int width) {
  const int source = lane - static_cast<int>(delta & 31u);
  return source >= (lane & ~(width - 1)) ? source : lane;
}
inline int lane_below(int lane, unsigned delta, int width) {
  const int source = lane + static_cast<int>(delta & 31u);
  return source <= (lane | (width - 1)) ? source : lane;
}
inline int lane_across(int lane, int bits, int width) {
  const int source = lane ^ (bits & 31);
  return source <= (lane | (width - 1)) ? source : lane;
}

inline void check_width(int width, Site site) {
  if (width < 1 || width > 32 || (width & (width - 1)) != 0) {
    ktune_cpu_fault("the width of a shuffle must be a power of two from 1 to 32", site);
  }
}

template <class T>
inline T shuffle(unsigned mask, T value, int source, Site site) {
  return from_bits<T>(warp(kShuffle, mask, to_bits(value), source, site));
}

}  // namespace ktune_cpu

#define KTUNE_CPU_SHUFFLE(function, argument_type, source_lane)                                             \
  template <class T>                                                                                        \
  inline T function(unsigned mask, T value, argument_type argument, int width = warpSize, KTUNE_CPU_SITE) { \
    ktune_cpu::check_width(width, KTUNE_CPU_HERE(#function));                                               \
    const int source = source_lane(static_cast<int>(ktune_cpu_self->lane), argument, width);                \
    return ktune_cpu::shuffle(mask, value, source, KTUNE_CPU_HERE(#function));                              \
  }
KTUNE_CPU_SHUFFLE(__shfl_sync, int, ktune_cpu::lane_of_index)
KTUNE_CPU_SHUFFLE(__shfl_up_sync, unsigned, ktune_cpu::lane_above)
KTUNE_CPU_SHUFFLE(__shfl_down_sync, unsigned, ktune_cpu::lane_below)
KTUNE_CPU_SHUFFLE(__shfl_xor_sync, int, ktune_cpu::lane_across)
#undef KTUNE_CPU_SHUFFLE

inline unsigned __ballot_sync(unsigned mask, int predicate, KTUNE_CPU_SITE) {
  return static_cast<unsigned>(
      ktune_cpu::warp(ktune_cpu::kVote, mask, predicate != 0, 0, KTUNE_CPU_HERE("__ballot_sync")));
}
inline int __any_sync(unsigned mask, int predicate, KTUNE_CPU_SITE) {
  return static_cast<unsigned>(
             ktune_cpu::warp(ktune_cpu::kVote, mask, predicate != 0, 0, KTUNE_CPU_HERE("__any_sync"))) != 0;
}
inline int __all_sync(unsigned mask, int predicate, KTUNE_CPU_SITE) {
  const unsigned long long vote =
      ktune_cpu::warp(ktune_cpu::kVote, mask, predicate != 0, 0, KTUNE_CPU_HERE("__all_sync"));
  return static_cast<unsigned>(vote) == static_cast<unsigned>(vote >> 32);
}
inline int __uni_sync(unsigned mask, int predicate, KTUNE_CPU_SITE) {
  const unsigned long long vote =
      ktune_cpu::warp(ktune_cpu::kVote, mask, predicate != 0, 0, KTUNE_CPU_HERE("__uni_sync"));
  return static_cast<unsigned>(vote) == 0 || static_cast<unsigned>(vote) == static_cast<unsigned>(vote >> 32);
}
inline void __syncwarp(unsigned mask = 0xffffffffu, KTUNE_CPU_SITE) {
  ktune_cpu::warp(ktune_cpu::kVote, mask, 0, 0, KTUNE_CPU_HERE("__syncwarp"));
}
/// The lanes that arrive here together. A GPU may split a warp anywhere and give any set that holds the caller; this
/// gives the largest.
inline unsigned __activemask(KTUNE_CPU_SITE) {
  return static_cast<unsigned>(
      ktune_cpu::warp(ktune_cpu::kActive, 1u << ktune_cpu_self->lane, 0, 0, KTUNE_CPU_HERE("__activemask")));
}

template <class T>
inline unsigned __match_any_sync(unsigned mask, T value, KTUNE_CPU_SITE) {
  return static_cast<unsigned>(
      ktune_cpu::warp(ktune_cpu::kMatch, mask, ktune_cpu::to_bits(value), 0, KTUNE_CPU_HERE("__match_any_sync")));
}
template <class T>
inline unsigned __match_all_sync(unsigned mask, T value, int* same, KTUNE_CPU_SITE) {
  const unsigned long long matched =
      ktune_cpu::warp(ktune_cpu::kMatch, mask, ktune_cpu::to_bits(value), 0, KTUNE_CPU_HERE("__match_all_sync"));
  *same = static_cast<unsigned>(matched) == static_cast<unsigned>(matched >> 32);
  return *same != 0 ? static_cast<unsigned>(matched) : 0u;
}

#define KTUNE_CPU_REDUCE(function, type, op)                                                               \
  inline type function(unsigned mask, type value, KTUNE_CPU_SITE) {                                        \
    return static_cast<type>(                                                                              \
        ktune_cpu::warp(ktune_cpu::op, mask, static_cast<unsigned>(value), 0, KTUNE_CPU_HERE(#function))); \
  }
KTUNE_CPU_REDUCE(__reduce_add_sync, unsigned, kReduceAdd)
KTUNE_CPU_REDUCE(__reduce_add_sync, int, kReduceAdd)
KTUNE_CPU_REDUCE(__reduce_min_sync, unsigned, kReduceMinUnsigned)
KTUNE_CPU_REDUCE(__reduce_min_sync, int, kReduceMinSigned)
KTUNE_CPU_REDUCE(__reduce_max_sync, unsigned, kReduceMaxUnsigned)
KTUNE_CPU_REDUCE(__reduce_max_sync, int, kReduceMaxSigned)
KTUNE_CPU_REDUCE(__reduce_and_sync, unsigned, kReduceAnd)
KTUNE_CPU_REDUCE(__reduce_or_sync, unsigned, kReduceOr)
KTUNE_CPU_REDUCE(__reduce_xor_sync, unsigned, kReduceXor)
#undef KTUNE_CPU_REDUCE
