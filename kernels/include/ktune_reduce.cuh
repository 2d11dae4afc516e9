#pragma once

#include "ktune_types.cuh"

// Sums over a group of threads: TPR neighbouring threads of a block, TPR a power of two. Every thread of the block
// calls, and every thread of a group gets the group's sum, always added in the same order.

namespace ktune_kernel {

/// Over WIDTH neighbouring lanes of a warp; all 32 lanes call.
template <int WIDTH, class A>
KTUNE_INLINE A warp_sum(A value) {
  static_assert(WIDTH >= 1 && WIDTH <= 32 && (WIDTH & (WIDTH - 1)) == 0, "a power of two");
#pragma unroll
  for (int offset = WIDTH / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

/// Over TPR threads. `scratch` holds one value a warp of the block, in shared memory, and is used only where a group
/// spans warps; it may be written again after the next barrier.
template <int TPR, class A>
KTUNE_INLINE A group_sum(A value, A* scratch) {
  if constexpr (TPR <= 32) {
    return warp_sum<TPR>(value);
  } else {
    constexpr int kWarps = TPR / 32;
    value = warp_sum<32>(value);
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (threadIdx.x % 32 == 0) scratch[warp] = value;
    __syncthreads();
    const A* mine = scratch + warp / kWarps * kWarps;
    A sum = mine[0];
#pragma unroll
    for (int i = 1; i < kWarps; ++i) sum += mine[i];
    return sum;
  }
}

/// A thread's part of a sum of squares: four sums side by side, a chain of dependent additions a quarter as long.
template <class E, int VEC>
struct SquareSum {
  acc_t<E> part[4] = {0, 0, 0, 0};
  KTUNE_INLINE void add(const Words<VEC* static_cast<int>(sizeof(E))>& vector) {
    acc_t<E> value[VEC];
    Element<E>::template unpack<VEC>(vector, value);
#pragma unroll
    for (int j = 0; j < VEC; ++j) part[j % 4] += value[j] * value[j];
  }
  KTUNE_INLINE acc_t<E> total() const { return (part[0] + part[1]) + (part[2] + part[3]); }
};

}  // namespace ktune_kernel
