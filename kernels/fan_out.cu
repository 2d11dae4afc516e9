// Fan out: y[k, i] = x[i] for k < OUT. The ceiling of what writes more than it reads: 1 : 2 and 1 : 4.
//
// The floor: every byte in once, OUT bytes out for each. As in copy, all that matters is how many bytes are on their
// way; stores need no registers but those of the loaded vectors, so a tile is as large as copy's. With LAUNCHES = 2 the
// second half of x is the second launch's: the same bytes, and what one more launch costs.

#include "ktune_flat.cuh"

namespace kk = ktune_kernel;

#ifdef KTUNE_REFERENCE

extern "C" __global__ void stream_fan_out_reference(const scalar_t* x, scalar_t* y, long long N, long long x_step,
                                                    long long y_row, long long y_step) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= N) return;
  for (int k = 0; k < OUT; ++k) y[k * y_row + i * y_step] = x[i * x_step];
}

#else

namespace {

constexpr int kThreads = 32 * num_warps;
constexpr int kVec = VEC_BYTES / static_cast<int>(sizeof(scalar_t));
constexpr int kHeld = BLOCK_SIZE / kVec / kThreads;  // vectors of a thread, on their way together
constexpr kk::LoadHint kLoad = LOAD_HINT == LOAD_HINT_no_alloc      ? kk::kLoadNoAlloc
                               : LOAD_HINT == LOAD_HINT_evict_first ? kk::kLoadEvictFirst
                                                                    : kk::kLoadCached;
constexpr kk::StoreHint kStore = STORE_HINT == STORE_HINT_stream ? kk::kStoreEvictFirst : kk::kStoreCached;

static_assert(VEC_BYTES >= static_cast<int>(sizeof(scalar_t)), "an access moves at least one element");
static_assert(kHeld >= 1, "each thread moves at least one vector of a tile");

}  // namespace

/// Elements [first, first + count) of x, to each row of y. `first` is a multiple of a tile.
extern "C" __global__ void __launch_bounds__(kThreads)
    stream_fan_out(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, long long first, long long count,
                   long long x_step, long long y_row, long long y_step) {
  const scalar_t* in = x + first * x_step;
  scalar_t* out = y + first * y_step;
  kk::for_each_tile<BLOCK_SIZE, kVec>(
      count,
      [&](long long tile, bool whole) {
        const long long begin = tile * BLOCK_SIZE + static_cast<int>(threadIdx.x) * kVec;
        kk::Words<VEC_BYTES> held[kHeld];
#pragma unroll
        for (int i = 0; i < kHeld; ++i) {
          held[i] = kk::load_flat<scalar_t, kVec, kLoad>(in, {begin + i * kThreads * kVec, whole}, x_step, count);
        }
#pragma unroll
        for (int k = 0; k < OUT; ++k) {
#pragma unroll
          for (int i = 0; i < kHeld; ++i) {
            kk::store_flat<scalar_t, kVec, kStore>(out + k * y_row, {begin + i * kThreads * kVec, whole}, y_step, count,
                                                   held[i]);
          }
        }
      },
      [&](long long i) {
        for (int k = 0; k < OUT; ++k) out[k * y_row + i] = in[i];
      });
}

#endif
