#pragma once

#include "ktune_types.cuh"

// Blocks of a cluster adding up one value each (sm_90 and later). On the host a cluster has one block, whose sum is its
// own value: the kernels' constraints ask for no more there.

namespace ktune_kernel {

/// Says that this block runs and its shared memory may be written; costs nothing until cluster_sum waits for it.
KTUNE_INLINE void cluster_arrive() {
#ifndef KTUNE_CPU
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}

/// This block's place in its cluster.
KTUNE_INLINE int cluster_rank() {
#ifdef KTUNE_CPU
  return 0;
#else
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return static_cast<int>(rank);
#endif
}

#ifndef KTUNE_CPU
namespace detail {
/// Writes to the same place in the shared memory of block `rank`.
KTUNE_INLINE void store_remote(unsigned address, int rank, float value) {
  asm volatile(
      "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; st.shared::cluster.f32 [there], %2; }" ::"r"(address),
      "r"(rank), "f"(value)
      : "memory");
}
KTUNE_INLINE void store_remote(unsigned address, int rank, double value) {
  asm volatile(
      "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; st.shared::cluster.f64 [there], %2; }" ::"r"(address),
      "r"(rank), "d"(value)
      : "memory");
}
}  // namespace detail
#endif

/// The sum of `value` over the BLOCKS blocks of a cluster, in the order of their ranks. All threads of all blocks
/// call, each block's threads with the same value, after cluster_arrive. `slots` is BLOCKS values in shared memory.
template <int BLOCKS, class A>
KTUNE_INLINE A cluster_sum(A value, A* slots) {
#ifdef KTUNE_CPU
  (void)slots;
  return value;
#else
  // Everyone has started: their shared memory exists.
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x < BLOCKS) {
    const unsigned slot = static_cast<unsigned>(__cvta_generic_to_shared(slots + cluster_rank()));
    detail::store_remote(slot, static_cast<int>(threadIdx.x), value);
  }
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  A sum = slots[0];
#pragma unroll
  for (int i = 1; i < BLOCKS; ++i) sum += slots[i];
  return sum;
#endif
}

}  // namespace ktune_kernel
