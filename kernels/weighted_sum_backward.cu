// Weighted sum, backward. For y[i] = Σ_d x[i,d]·w[d] and the gradient go[i] of y:
//
//   grad_x[i,d] = go[i]·w[d]            each product rounded once to scalar_t
//   grad_w[d]   = Σ_i x[i,d]·go[i]      summed in f32 (f64 for f64), rounded once to weight_t
//
// The floor: x once in, grad_x once out. grad_x does not need x, so one launch may do both (fused), or one may write
// grad_x and another read x (split): the memory writes alone, and reads alone, faster than it does both in turn, which
// pays for the extra launch on large problems.
//
// A block owns BLOCK_SIZE columns of TILE_ROWS rows. A thread owns one vector of columns and goes down the rows, UNROLL
// of them on their way at once, with its column sums in registers; where a strip has fewer vectors than the block has
// threads, several threads share the rows and their sums meet in shared memory. Each block writes one row of partial
// sums, [row tiles, N], and a last launch adds those up, always in the same order: no atomics, the same bits every run.

#include "ktune_hints.cuh"
#include "ktune_rows.cuh"

namespace kk = ktune_kernel;

#ifdef KTUNE_REFERENCE

extern "C" __global__ void grad_x_reference(const weight_t* w, const scalar_t* go, scalar_t* grad_x, long long N,
                                            long long w_col, long long go_row, long long gx_row, long long gx_col) {
  const long long row = blockIdx.x;
  for (long long d = threadIdx.x; d < N; d += blockDim.x) {
    grad_x[row * gx_row + d * gx_col] = kk::from_f64<scalar_t>(kk::to_f64(go[row * go_row]) * kk::to_f64(w[d * w_col]));
  }
}

extern "C" __global__ void grad_w_reference(const scalar_t* x, const scalar_t* go, weight_t* grad_w, long long M,
                                            long long N, long long x_row, long long x_col, long long go_row,
                                            long long gw_col) {
  const long long d = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (d >= N) return;
  double sum = 0;
  for (long long i = 0; i < M; ++i) sum += kk::to_f64(x[i * x_row + d * x_col]) * kk::to_f64(go[i * go_row]);
  grad_w[d * gw_col] = kk::from_f64<weight_t>(sum);
}

#else

namespace {

using acc = kk::acc_t<scalar_t>;

constexpr int kColumns = DIM_N;
constexpr int kThreads = 32 * num_warps;
constexpr int kVec = VEC_BYTES / static_cast<int>(sizeof(scalar_t));
constexpr int kAcross = BLOCK_SIZE / kVec;  // threads side by side in a strip
constexpr int kDown = kThreads / kAcross;   // threads that share a strip's rows
constexpr int kStrips = (kColumns + BLOCK_SIZE - 1) / BLOCK_SIZE;
constexpr int kSteps = TILE_ROWS / (kDown * UNROLL);

static_assert(VEC_BYTES >= static_cast<int>(sizeof(scalar_t)), "an access moves at least one element");
static_assert(kAcross >= 1 && kThreads % kAcross == 0, "whole rows of threads make a block");
static_assert(kSteps >= 1 && TILE_ROWS % (kDown * UNROLL) == 0, "a tile's rows are shared evenly");

using Vector = kk::Words<VEC_BYTES>;

struct Operands {
  const scalar_t* x;
  const weight_t* w;
  const scalar_t* go;
  scalar_t* grad_x;
  acc* partial;
  long long M;
  long long x_row, x_col, w_col, go_row, gx_row, gx_col;
};

// One thread's walk down its rows. READS: x is summed; WRITES: grad_x is made.
template <bool READS, bool WRITES>
struct Walk {
  const Operands& op;
  int column;
  const scalar_t* x = nullptr;  // the thread's vector in row 0
  scalar_t* grad_x = nullptr;
  acc weight[kVec];
  acc sum[kVec];

  KTUNE_INLINE explicit Walk(const Operands& operands, int first_column) : op(operands), column(first_column) {
    if (READS) x = op.x + (kVec == 1 ? column * op.x_col : column);
    if (WRITES) grad_x = op.grad_x + (kVec == 1 ? column * op.gx_col : column);
#pragma unroll
    for (int j = 0; j < kVec; ++j) {
      weight[j] = sum[j] = 0;
      if (WRITES && column + j < kColumns)
        weight[j] = static_cast<acc>(kk::load_element(op.w + (column + j) * op.w_col));
    }
  }

  // UNROLL rows from `row` on, `kDown` apart. WHOLE: all of them exist.
  template <bool WHOLE>
  KTUNE_INLINE void rows(long long row) {
    Vector held[READS ? UNROLL : 1];
    acc gradient[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      const long long here = row + u * kDown;
      const bool live = WHOLE || here < op.M;
      if constexpr (READS) {
        held[u] = live
                      ? kk::load_columns<scalar_t, kVec, kColumns, kk::kLoad>(x + here * op.x_row, column, kWholeStrips)
                      : kk::zero_words<VEC_BYTES>();
      }
      gradient[u] = live ? kk::load_element(op.go + here * op.go_row) : acc(0);
    }
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      const long long here = row + u * kDown;
      if constexpr (WRITES) {
        if (WHOLE || here < op.M) {
          acc product[kVec];
#pragma unroll
          for (int j = 0; j < kVec; ++j) product[j] = gradient[u] * weight[j];
          kk::store_columns<scalar_t, kVec, kColumns, kk::kStore>(grad_x + here * op.gx_row, column, product,
                                                                  kWholeStrips);
        }
      }
      if constexpr (READS) {
        acc value[kVec];
        kk::Element<scalar_t>::unpack<kVec>(held[u], value);
#pragma unroll
        for (int j = 0; j < kVec; ++j) sum[j] += value[j] * gradient[u];
      }
    }
  }

  static constexpr bool kWholeStrips = kColumns % BLOCK_SIZE == 0;
};

// Adds the sums of the threads that share a strip's columns, in the order of their rows, and writes the strip's part of
// the tile's row of partial sums.
KTUNE_INLINE void write_partial(const Operands& op, long long tile, int column, int across, int down,
                                const acc (&sum)[kVec], acc* shared) {
  acc* out = op.partial + tile * kColumns;
  if constexpr (kDown == 1) {
#pragma unroll
    for (int j = 0; j < kVec; ++j) {
      if (column + j < kColumns) out[column + j] = sum[j];
    }
  } else {
    // Element j of every thread, then element j + 1: neighbouring threads, neighbouring words.
#pragma unroll
    for (int j = 0; j < kVec; ++j) shared[j * kThreads + down * kAcross + across] = sum[j];
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < BLOCK_SIZE; i += kThreads) {
      const int at = i % kVec * kThreads + i / kVec;
      acc total = shared[at];
#pragma unroll
      for (int d = 1; d < kDown; ++d) total += shared[at + d * kAcross];
      const int here = column - across * kVec + i;
      if (here < kColumns) out[here] = total;
    }
  }
}

template <bool READS, bool WRITES>
KTUNE_INLINE void walk_tile(const Operands& op, acc* shared) {
  const long long tile = blockIdx.x / kStrips;
  const int strip = static_cast<int>(blockIdx.x % kStrips);
  const int across = static_cast<int>(threadIdx.x) % kAcross;
  const int down = static_cast<int>(threadIdx.x) / kAcross;
  Walk<READS, WRITES> walk(op, strip * BLOCK_SIZE + across * kVec);
  const long long first = tile * TILE_ROWS + down;
  if (tile * TILE_ROWS + TILE_ROWS <= op.M) {
#pragma unroll 1
    for (int step = 0; step < kSteps; ++step) walk.template rows<true>(first + step * (kDown * UNROLL));
  } else {
#pragma unroll 1
    for (int step = 0; step < kSteps; ++step) walk.template rows<false>(first + step * (kDown * UNROLL));
  }
  if constexpr (READS) write_partial(op, tile, walk.column, across, down, walk.sum, shared);
}

}  // namespace

#if FUSE == FUSE_fused
extern "C" __global__ void __launch_bounds__(kThreads)
    weighted_sum_backward(const scalar_t* __restrict__ x, const weight_t* __restrict__ w,
                          const scalar_t* __restrict__ go, scalar_t* __restrict__ grad_x, void* __restrict__ partial,
                          long long M, long long x_row, long long x_col, long long w_col, long long go_row,
                          long long gx_row, long long gx_col) {
  alignas(16) __shared__ acc shared[kDown > 1 ? kVec * kThreads : 1];
  kk::launch_dependents();
  walk_tile<true, true>({x, w, go, grad_x, static_cast<acc*>(partial), M, x_row, x_col, w_col, go_row, gx_row, gx_col},
                        shared);
}
#else
extern "C" __global__ void __launch_bounds__(kThreads)
    weighted_sum_backward_x(const weight_t* __restrict__ w, const scalar_t* __restrict__ go,
                            scalar_t* __restrict__ grad_x, long long M, long long w_col, long long go_row,
                            long long gx_row, long long gx_col) {
  walk_tile<false, true>({nullptr, w, go, grad_x, nullptr, M, 0, 0, w_col, go_row, gx_row, gx_col}, nullptr);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    weighted_sum_backward_w(const scalar_t* __restrict__ x, const scalar_t* __restrict__ go, void* __restrict__ partial,
                            long long M, long long x_row, long long x_col, long long go_row) {
  alignas(16) __shared__ acc shared[kDown > 1 ? kVec * kThreads : 1];
  kk::launch_dependents();
  walk_tile<true, false>({x, nullptr, go, nullptr, static_cast<acc*>(partial), M, x_row, x_col, 0, go_row, 0, 0},
                         shared);
}
#endif

// 32 columns a block, one a lane; the warps share the tiles.
extern "C" __global__ void __launch_bounds__(32 * FINAL_WARPS)
    weighted_sum_backward_final(const void* partial, weight_t* grad_w, long long tiles, long long gw_col) {
  __shared__ acc part[FINAL_WARPS][32];
  kk::wait_for_previous_launch();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int column = static_cast<int>(blockIdx.x) * 32 + lane;
  acc sum[4] = {0, 0, 0, 0};
  if (column < kColumns) {
    const acc* at = static_cast<const acc*>(partial) + column;
    long long tile = warp;
    for (; tile + 3 * FINAL_WARPS < tiles; tile += 4 * FINAL_WARPS) {
#pragma unroll
      for (int j = 0; j < 4; ++j) sum[j] += at[(tile + j * FINAL_WARPS) * kColumns];
    }
    for (; tile < tiles; tile += FINAL_WARPS) sum[0] += at[tile * kColumns];
  }
  part[warp][lane] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  __syncthreads();
  if (warp != 0 || column >= kColumns) return;
  acc total = part[0][lane];
#pragma unroll
  for (int i = 1; i < FINAL_WARPS; ++i) total += part[i][lane];
  grad_w[column * gw_col] = kk::from_acc<weight_t>(static_cast<kk::acc_t<weight_t> >(total));
}

#endif
