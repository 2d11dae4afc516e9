// Read: out = Σ x[i], the ceiling of what only reads. A sum, since a read that nothing consumes is not made.
//
// The floor: every byte in once. A thread sums what it reads (f32; f64 for f64), a block writes one partial sum, and a
// second launch of one block adds those in f64, always in the same order: the same bits every run, no atomics. That
// launch starts while the first one ends, where the device can do so.

#include "ktune_flat.cuh"
#include "ktune_hints.cuh"
#include "ktune_reduce.cuh"

namespace kk = ktune_kernel;

#ifdef KTUNE_REFERENCE

extern "C" __global__ void stream_read_reference(const scalar_t* x, float* out, long long N, long long x_step) {
  __shared__ double part[1024];
  double sum = 0;
  for (long long i = threadIdx.x; i < N; i += blockDim.x) sum += kk::to_f64(x[i * x_step]);
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned i = 1; i < blockDim.x; ++i) sum += part[i];
  out[0] = static_cast<float>(sum);
}

#else

namespace {

using acc = kk::acc_t<scalar_t>;

constexpr int kThreads = 32 * num_warps;
constexpr int kFinalThreads = 256;
constexpr int kVec = VEC_BYTES / static_cast<int>(sizeof(scalar_t));
constexpr int kHeld = BLOCK_SIZE / kVec / kThreads;

static_assert(VEC_BYTES >= static_cast<int>(sizeof(scalar_t)), "an access moves at least one element");
static_assert(kHeld >= 1, "each thread reads at least one vector of a tile");

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    stream_read(const scalar_t* __restrict__ x, void* __restrict__ partial, long long N, long long x_step) {
  alignas(16) __shared__ acc scratch[num_warps];
  kk::launch_dependents();
  acc sum[4] = {0, 0, 0, 0};
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
          acc value[kVec];
          kk::Element<scalar_t>::unpack<kVec>(held[i], value);
#pragma unroll
          for (int j = 0; j < kVec; ++j) sum[(i * kVec + j) % 4] += value[j];
        }
      },
      [&](long long i) { sum[0] += kk::to_acc(x[i]); });
  const acc total = kk::group_sum<kThreads>((sum[0] + sum[1]) + (sum[2] + sum[3]), scratch);
  if (threadIdx.x == 0) static_cast<acc*>(partial)[blockIdx.x] = total;
}

extern "C" __global__ void __launch_bounds__(kFinalThreads)
    stream_read_final(const void* partial, float* out, long long parts) {
  __shared__ double scratch[kFinalThreads / 32];
  kk::wait_for_previous_launch();
  const acc* part = static_cast<const acc*>(partial);
  double sum[4] = {0, 0, 0, 0};
  long long i = threadIdx.x;
  for (; i + 3 * kFinalThreads < parts; i += 4 * kFinalThreads) {
#pragma unroll
    for (int j = 0; j < 4; ++j) sum[j] += static_cast<double>(part[i + j * kFinalThreads]);
  }
  for (; i < parts; i += kFinalThreads) sum[0] += static_cast<double>(part[i]);
  const double total = kk::group_sum<kFinalThreads>((sum[0] + sum[1]) + (sum[2] + sum[3]), scratch);
  if (threadIdx.x == 0) out[0] = static_cast<float>(total);
}

#endif
