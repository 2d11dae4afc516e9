// Triad: a[i] = b[i] + s·c[i], rounded once. The ceiling of what reads two bytes for each it writes.
//
// The floor: two streams in, one out. As in copy, all that matters is how many bytes are on their way.

#include "ktune_flat.cuh"
#include "ktune_hints.cuh"

namespace kk = ktune_kernel;

#ifdef KTUNE_REFERENCE

extern "C" __global__ void stream_triad_reference(const scalar_t* b, const scalar_t* c, scalar_t* a, long long N,
                                                  long long b_step, long long c_step, long long a_step, float s) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < N) {
    a[i * a_step] =
        kk::from_f64<scalar_t>(kk::to_f64(b[i * b_step]) + static_cast<double>(s) * kk::to_f64(c[i * c_step]));
  }
}

#else

namespace {

using acc = kk::acc_t<scalar_t>;

constexpr int kThreads = 32 * num_warps;
constexpr int kVec = VEC_BYTES / static_cast<int>(sizeof(scalar_t));
constexpr int kHeld = BLOCK_SIZE / kVec / kThreads;  // vectors of each input that a thread has on their way

static_assert(VEC_BYTES >= static_cast<int>(sizeof(scalar_t)), "an access moves at least one element");
static_assert(kHeld >= 1, "each thread moves at least one vector of a tile");

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    stream_triad(const scalar_t* __restrict__ b, const scalar_t* __restrict__ c, scalar_t* __restrict__ a, long long N,
                 long long b_step, long long c_step, long long a_step, float s) {
  kk::for_each_tile<BLOCK_SIZE, kVec>(
      N,
      [&](long long tile, bool whole) {
        const long long first = tile * BLOCK_SIZE + static_cast<int>(threadIdx.x) * kVec;
        kk::Words<VEC_BYTES> left[kHeld];
        kk::Words<VEC_BYTES> right[kHeld];
#pragma unroll
        for (int i = 0; i < kHeld; ++i) {
          const kk::FlatVector at{first + i * kThreads * kVec, whole};
          left[i] = kk::load_flat<scalar_t, kVec, kk::kLoad>(b, at, b_step, N);
          right[i] = kk::load_flat<scalar_t, kVec, kk::kLoad>(c, at, c_step, N);
        }
#pragma unroll
        for (int i = 0; i < kHeld; ++i) {
          acc sum[kVec];
          acc other[kVec];
          kk::Element<scalar_t>::unpack<kVec>(left[i], sum);
          kk::Element<scalar_t>::unpack<kVec>(right[i], other);
#pragma unroll
          for (int j = 0; j < kVec; ++j) sum[j] += static_cast<acc>(s) * other[j];
          kk::store_flat<scalar_t, kVec, kk::kStore>(a, {first + i * kThreads * kVec, whole}, a_step, N,
                                                     kk::Element<scalar_t>::pack<kVec>(sum));
        }
      },
      [&](long long i) { a[i] = kk::from_acc<scalar_t>(kk::to_acc(b[i]) + static_cast<acc>(s) * kk::to_acc(c[i])); });
}

#endif
