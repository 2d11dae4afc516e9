// Write: y[i] = value. The ceiling of what only writes.
//
// The floor: every byte out once; nothing is waited for, so a store is the whole of it. What can go wrong is to write
// part of a sector, which makes the memory read it first.

#include "ktune_flat.cuh"
#include "ktune_hints.cuh"

namespace kk = ktune_kernel;

#ifdef KTUNE_REFERENCE

extern "C" __global__ void stream_write_reference(scalar_t* y, long long N, long long y_step, float value) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < N) y[i * y_step] = kk::from_f64<scalar_t>(static_cast<double>(value));
}

#else

namespace {

using acc = kk::acc_t<scalar_t>;

constexpr int kThreads = 32 * num_warps;
constexpr int kVec = VEC_BYTES / static_cast<int>(sizeof(scalar_t));
constexpr int kHeld = BLOCK_SIZE / kVec / kThreads;

static_assert(VEC_BYTES >= static_cast<int>(sizeof(scalar_t)), "an access moves at least one element");
static_assert(kHeld >= 1, "each thread writes at least one vector of a tile");

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    stream_write(scalar_t* __restrict__ y, long long N, long long y_step, float value) {
  acc filled[kVec];
#pragma unroll
  for (int j = 0; j < kVec; ++j) filled[j] = static_cast<acc>(value);
  const kk::Words<VEC_BYTES> words = kk::Element<scalar_t>::pack<kVec>(filled);
  const acc single[1] = {static_cast<acc>(value)};
  const auto one = kk::Element<scalar_t>::pack<1>(single);
  kk::for_each_tile<BLOCK_SIZE, kVec>(
      N,
      [&](long long tile, bool whole) {
        const long long first = tile * BLOCK_SIZE + static_cast<int>(threadIdx.x) * kVec;
#pragma unroll
        for (int i = 0; i < kHeld; ++i) {
          kk::store_flat<scalar_t, kVec, kk::kStore>(y, {first + i * kThreads * kVec, whole}, y_step, N, words);
        }
      },
      [&](long long i) { kk::store_words<static_cast<int>(sizeof(scalar_t))>(y + i, one); });
}

#endif
