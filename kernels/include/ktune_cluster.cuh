#pragma once

#include "ktune_types.cuh"

// Blocks of a cluster adding up one value each (sm_90 and later). On the host a cluster has one block, whose sum is its
// own value: the kernels' constraints ask for no more there.
//
// Each block sends its value into every block's shared memory with st.async, which counts the bytes that have come in
// on a barrier there, and waits for its own to be complete. A cluster-wide barrier with release and acquire would do
// too, but it becomes a memory fence of the whole GPU; here the only one stands at the start, and the row's loads hide
// it.

namespace ktune_kernel {

/// Shared memory of a cluster's sum.
template <int BLOCKS, class A>
struct ClusterScratch {
  alignas(16) A slot[BLOCKS];
  alignas(8) unsigned long long arrived;
};

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

KTUNE_INLINE unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

KTUNE_INLINE unsigned remote_address(unsigned address, int rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

KTUNE_INLINE void send(unsigned slot, unsigned barrier, float value) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(slot),
               "r"(__float_as_uint(value)), "r"(barrier)
               : "memory");
}
KTUNE_INLINE void send(unsigned slot, unsigned barrier, double value) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(slot),
               "l"(__double_as_longlong(value)), "r"(barrier)
               : "memory");
}

}  // namespace detail
#endif

/// First thing in the kernel, all threads: makes the scratch ready and says so; waits for nothing.
template <int BLOCKS, class A>
KTUNE_INLINE void cluster_begin(ClusterScratch<BLOCKS, A>& scratch) {
#ifdef KTUNE_CPU
  (void)scratch;
#else
  if (threadIdx.x == 0) {
    const unsigned barrier = detail::shared_address(&scratch.arrived);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                 "r"(static_cast<unsigned>(BLOCKS * sizeof(A)))
                 : "memory");
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}

/// The sum of `value` over the blocks of a cluster, in the order of their ranks. All threads of all blocks call, once,
/// each block's threads with the same value.
template <int BLOCKS, class A>
KTUNE_INLINE A cluster_sum(A value, ClusterScratch<BLOCKS, A>& scratch) {
#ifdef KTUNE_CPU
  (void)scratch;
  return value;
#else
  // Every block has started, and its scratch is ready.
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  const unsigned barrier = detail::shared_address(&scratch.arrived);
  if (threadIdx.x < BLOCKS) {
    const int rank = static_cast<int>(threadIdx.x);
    const unsigned slot = detail::shared_address(&scratch.slot[cluster_rank()]);
    detail::send(detail::remote_address(slot, rank), detail::remote_address(barrier, rank), value);
  }
  unsigned done;
  do {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(barrier)
                 : "memory");
  } while (done == 0);
  A sum = scratch.slot[0];
#pragma unroll
  for (int i = 1; i < BLOCKS; ++i) sum += scratch.slot[i];
  return sum;
#endif
}

}  // namespace ktune_kernel
