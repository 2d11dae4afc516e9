// Copy: y[i] = x[i]. It is the ceiling of everything that reads as much as it writes, so it has to be as good as a copy
// by hand can be.
//
// The floor: every byte in once, every byte out once. Nothing depends on anything, so the one question is how many
// bytes are on their way: BLOCK_SIZE / (32 · num_warps) elements a thread, all loaded before the first is stored. GRID
// chooses between a block a tile, which the scheduler spreads by itself, and blocks that stay and take every so-manieth
// tile, which pay their start once.

#include "ktune_flat.cuh"
#include "ktune_hints.cuh"

namespace kk = ktune_kernel;

#ifdef KTUNE_REFERENCE

extern "C" __global__ void stream_copy_reference(const scalar_t* x, scalar_t* y, long long N, long long x_step,
                                                 long long y_step) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < N) y[i * y_step] = x[i * x_step];
}

#else

namespace {

constexpr int kThreads = 32 * num_warps;
constexpr int kVec = VEC_BYTES / static_cast<int>(sizeof(scalar_t));
constexpr int kHeld = BLOCK_SIZE / kVec / kThreads;  // vectors of a thread, on their way together

static_assert(VEC_BYTES >= static_cast<int>(sizeof(scalar_t)), "an access moves at least one element");
static_assert(kHeld >= 1, "each thread moves at least one vector of a tile");

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    stream_copy(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, long long N, long long x_step,
                long long y_step) {
  kk::for_each_tile<BLOCK_SIZE, kVec>(
      N,
      [&](long long tile, bool whole) {
        const long long first = tile * BLOCK_SIZE + static_cast<int>(threadIdx.x) * kVec;
        kk::Words<VEC_BYTES> held[kHeld];
#pragma unroll
        for (int i = 0; i < kHeld; ++i) {
          held[i] = kk::load_flat<scalar_t, kVec, kk::kLoad>(x, {first + i * kThreads * kVec, whole}, x_step, N);
        }
#pragma unroll
        for (int i = 0; i < kHeld; ++i) {
          kk::store_flat<scalar_t, kVec, kk::kStore>(y, {first + i * kThreads * kVec, whole}, y_step, N, held[i]);
        }
      },
      [&](long long i) { y[i] = x[i]; });
}

#endif
