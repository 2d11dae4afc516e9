// Weighted sum of each row: y[i] = Σ_d x[i,d]·w[d], summed in f32 (f64 for f64), rounded once to scalar_t.
//
// The floor: every byte of x once. What is written is nothing, and the weight comes from L1 or stays in registers; so
// this is a read, and as good as the number of bytes it keeps on their way.
//
// A group of 32 · num_warps / ROWS neighbouring threads sums ROWS_EACH rows at once: the weight's vectors are loaded
// and unpacked once for all of them. A group of one warp or less needs no barrier. A row that fits into BLOCK_SIZE
// columns is loaded whole before it is summed; a wider one goes tile by tile, and nothing is kept. With a persistent
// grid the weight of a whole row stays in registers from row to row.

#include "ktune_hints.cuh"
#include "ktune_reduce.cuh"
#include "ktune_rows.cuh"

namespace kk = ktune_kernel;

#ifdef KTUNE_REFERENCE

extern "C" __global__ void weighted_sum_reference(const scalar_t* x, const weight_t* w, scalar_t* y, long long N,
                                                  long long x_row, long long x_col, long long w_col, long long y_row) {
  __shared__ double part[128];
  const long long row = blockIdx.x;
  double sum = 0;
  for (long long d = threadIdx.x; d < N; d += blockDim.x) {
    sum += kk::to_f64(x[row * x_row + d * x_col]) * kk::to_f64(w[d * w_col]);
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned i = 1; i < blockDim.x; ++i) sum += part[i];
  y[row * y_row] = kk::from_f64<scalar_t>(sum);
}

#else

namespace {

using acc = kk::acc_t<scalar_t>;

constexpr int kColumns = DIM_N;
constexpr int kThreads = 32 * num_warps;
constexpr int kTpr = kThreads / ROWS;  // threads of a group
constexpr int kVec = VEC_BYTES / static_cast<int>(sizeof(scalar_t));
constexpr int kVectors = (kColumns + kVec - 1) / kVec;
constexpr bool kResident = BLOCK_SIZE >= kColumns;
// Vectors of a row, or of a tile of it, that a thread has on their way together.
constexpr int kHeld = kResident ? (kVectors + kTpr - 1) / kTpr : BLOCK_SIZE / kVec / kTpr;
constexpr bool kWeightStays = kResident && GRID == GRID_persistent;
constexpr int kMinBlocks = GRID == GRID_persistent ? SM_WARPS / num_warps : 1;

static_assert(kThreads % ROWS == 0 && kThreads <= 1024, "rows share a block evenly");
static_assert(VEC_BYTES >= static_cast<int>(sizeof(scalar_t)), "an access moves at least one element");
static_assert(kHeld >= 1, "each thread has at least one vector of a tile");

using Vector = kk::Words<VEC_BYTES>;
using Weights = kk::Words<kVec* static_cast<int>(sizeof(weight_t))>;

struct Operands {
  const scalar_t* x;
  const weight_t* w;
  scalar_t* y;
  long long M;
  long long x_row, x_col, w_col, y_row;
};

// Columns [first, …) of a tile. WHOLE: all of it lies inside the row.
template <bool WHOLE>
struct Tile {
  int first;
  int lane;

  KTUNE_INLINE int column(int i) const { return first + lane * kVec + i * kTpr * kVec; }
  static KTUNE_INLINE constexpr bool whole(int i) { return WHOLE || (kResident && (i + 1) * kTpr * kVec <= kColumns); }
  template <class E>
  KTUNE_INLINE const E* address(const E* row, int i, long long step) const {
    return kVec == 1 ? row + (first + lane) * step + i * kTpr * step : row + first + lane * kVec + i * kTpr * kVec;
  }
  KTUNE_INLINE void load_weights(Weights (&weight)[kHeld], const Operands& op) const {
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      weight[i] = kk::load_columns<weight_t, kVec, kColumns>(address(op.w, i, op.w_col), column(i), whole(i));
    }
  }
  // Rows past the last are read as the last: what they sum is not written.
  KTUNE_INLINE void load_rows(Vector (&held)[ROWS_EACH][kHeld], const Operands& op, long long row) const {
#pragma unroll
    for (int r = 0; r < ROWS_EACH; ++r) {
      const scalar_t* x = op.x + (row + r < op.M ? row + r : op.M - 1) * op.x_row;
#pragma unroll
      for (int i = 0; i < kHeld; ++i) {
        held[r][i] =
            kk::load_columns<scalar_t, kVec, kColumns, kk::kLoad>(address(x, i, op.x_col), column(i), whole(i));
      }
    }
  }
};

struct Sums {
  acc part[ROWS_EACH][2];
  KTUNE_INLINE Sums() {
#pragma unroll
    for (int r = 0; r < ROWS_EACH; ++r) part[r][0] = part[r][1] = 0;
  }
  KTUNE_INLINE void add(const Vector (&held)[ROWS_EACH][kHeld], const Weights (&weight)[kHeld]) {
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      kk::acc_t<weight_t> factor[kVec];
      kk::Element<weight_t>::unpack<kVec>(weight[i], factor);
#pragma unroll
      for (int r = 0; r < ROWS_EACH; ++r) {
        acc value[kVec];
        kk::Element<scalar_t>::unpack<kVec>(held[r][i], value);
#pragma unroll
        for (int j = 0; j < kVec; ++j) part[r][j % 2] += value[j] * static_cast<acc>(factor[j]);
      }
    }
  }
};

KTUNE_INLINE void sum_rows(const Operands& op, long long row, int lane, const Weights (&kept)[kHeld], Sums& sums) {
  Vector held[ROWS_EACH][kHeld];
  if constexpr (kResident) {
    const Tile<false> tile{0, lane};
    tile.load_rows(held, op, row);
    if constexpr (kWeightStays) {
      sums.add(held, kept);
    } else {
      Weights weight[kHeld];
      tile.load_weights(weight, op);
      sums.add(held, weight);
    }
  } else {
    constexpr int kWholeTiles = kColumns / BLOCK_SIZE;
    Weights weight[kHeld];
#pragma unroll 1
    for (int i = 0; i < kWholeTiles; ++i) {
      const Tile<true> tile{i * BLOCK_SIZE, lane};
      tile.load_rows(held, op, row);
      tile.load_weights(weight, op);
      sums.add(held, weight);
    }
    if constexpr (kColumns % BLOCK_SIZE != 0) {
      const Tile<false> tile{kWholeTiles * BLOCK_SIZE, lane};
      tile.load_rows(held, op, row);
      tile.load_weights(weight, op);
      sums.add(held, weight);
    }
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads, kMinBlocks)
    weighted_sum(const scalar_t* __restrict__ x, const weight_t* __restrict__ w, scalar_t* __restrict__ y, long long M,
                 long long x_row, long long x_col, long long w_col, long long y_row) {
  alignas(16) __shared__ acc scratch[2 * num_warps];
  const Operands op{x, w, y, M, x_row, x_col, w_col, y_row};
  const int lane = static_cast<int>(threadIdx.x) % kTpr;
  const int group = static_cast<int>(threadIdx.x) / kTpr;
  Weights kept[kHeld];
  if constexpr (kWeightStays) Tile<false>{0, lane}.load_weights(kept, op);

  constexpr int kRows = ROWS * ROWS_EACH;
  const long long step = static_cast<long long>(gridDim.x) * kRows;
  int turn = 0;
  for (long long first = static_cast<long long>(blockIdx.x) * kRows; first < M; first += step) {
    const long long row = first + group * ROWS_EACH;
    Sums sums;
    sum_rows(op, row, lane, kept, sums);
#pragma unroll
    for (int r = 0; r < ROWS_EACH; ++r) {
      // Two halves of scratch in turn, so that one barrier a sum is enough.
      const acc total = kk::group_sum<kTpr>(sums.part[r][0] + sums.part[r][1], scratch + turn);
      turn = num_warps - turn;
      if (lane == 0 && row + r < M) y[(row + r) * y_row] = kk::from_acc<scalar_t>(total);
    }
  }
}

#endif
