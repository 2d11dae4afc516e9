// RMSNorm, forward: rstd[i] = 1 / sqrt(mean_j(x[i,j]²) + eps), and y by cast_mode:
//
//   none    y = round(x·rstd·w): f32 all the way (f64 for f64), rounded once to scalar_t
//   llama   y = round(round(x·rstd)·w): the normalised value is rounded to scalar_t before it meets the weight
//   gemma   y = round(x·rstd·(1 + w)): as none, with a weight that is stored less one; 1 + w is made in f32
//
// The floor. A row has to come in and a row has to go out: M·N·(in + out) bytes, the weight once. There is nothing to
// compute that this does not hide, so a variant is as good as the number of bytes it keeps on their way, and the one
// thing that must not happen is to read a row twice from memory. The sum needs the whole row before the first output,
// so the row has to wait somewhere; PATH says where:
//
//   reg      in registers, as it came (16-bit elements stay packed)
//   smem     in shared memory, copied there asynchronously: no register holds it
//   split    3/8 in registers, 5/8 in shared memory: rows wider than either, 64K columns of f32
//   pipe     persistent blocks: a row arrives in shared memory while the one before it, in registers, is written out
//   loop     nowhere: column tiles are read twice, the second time from L2
//   loop_rev the same, the second time from the last tile (still in registers) back to the first, so that what was read
//            last, and is nearest, is used first
//
// With CLUSTER > 1 a row is shared by the blocks of a cluster: each holds its part as above, and their sums meet in
// shared memory. That makes room for the widest rows, and work for every multiprocessor where rows are few.
//
// Every thread reads from shared memory only what it put there itself, so rows need no barrier but the one of the sum;
// and none at all where a row belongs to one warp or less. N is a compile-time constant: the loops over a thread's part
// unroll, every load of a row is issued before the first is used, and a row's ragged end costs only the vectors there.

#include "ktune_cluster.cuh"
#include "ktune_hints.cuh"
#include "ktune_reduce.cuh"
#include "ktune_rows.cuh"

namespace kk = ktune_kernel;

#ifdef KTUNE_REFERENCE

// Naive: a block a row, f64 throughout, except where cast_mode asks for a rounding.
extern "C" __global__ void rmsnorm_reference(const scalar_t* x, const weight_t* w, scalar_t* y, stat_t* rstd,
                                             long long N, long long x_row, long long x_col, long long w_col,
                                             long long y_row, long long y_col, long long rstd_row, float eps) {
  __shared__ double part[128];
  const long long row = blockIdx.x;
  double sum = 0;
  for (long long j = threadIdx.x; j < N; j += blockDim.x) {
    const double value = kk::to_f64(x[row * x_row + j * x_col]);
    sum += value * value;
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (unsigned i = 0; i < blockDim.x; ++i) sum += part[i];
  const double scale = 1.0 / sqrt(sum / static_cast<double>(N) + static_cast<double>(eps));
  if (threadIdx.x == 0) rstd[row * rstd_row] = static_cast<stat_t>(scale);
  for (long long j = threadIdx.x; j < N; j += blockDim.x) {
    double value = kk::to_f64(x[row * x_row + j * x_col]) * scale;
    double weight = kk::to_f64(w[j * w_col]);
    if (cast_mode == cast_mode_llama) value = kk::to_f64(kk::from_f64<scalar_t>(value));
    if (cast_mode == cast_mode_gemma) weight += 1.0;
    y[row * y_row + j * y_col] = kk::from_f64<scalar_t>(value * weight);
  }
}

#else

namespace {

using acc = kk::acc_t<scalar_t>;

constexpr int kColumns = DIM_N;
constexpr int kThreads = 32 * num_warps;
constexpr int kTpr = kThreads / ROWS;  // threads per row
constexpr int kVec = VEC_BYTES / static_cast<int>(sizeof(scalar_t));
constexpr int kVectors = (kColumns + kVec - 1) / kVec;  // of a row; the last may be part of one
constexpr bool kLoops = PATH == PATH_loop || PATH == PATH_loop_rev;
// Vectors a thread holds: of its row, or of a tile of it.
constexpr int kHeld = kLoops ? BLOCK_SIZE / kVec / kTpr : (kVectors + kTpr * CLUSTER - 1) / (kTpr * CLUSTER);
// Columns of a row that are one block's; the last blocks of a cluster may have fewer.
constexpr int kShare = kHeld * kTpr * kVec;
constexpr int kInRegisters = PATH == PATH_smem ? 0 : PATH == PATH_split ? kHeld * 3 / 8 : kHeld;
constexpr int kInShared = PATH == PATH_pipe ? kHeld : kLoops ? 0 : kHeld - kInRegisters;
constexpr int kUnrollShared = kInShared == 0 ? 1 : kInShared <= 8 ? kInShared : 4;
constexpr bool kPersistent = GRID == GRID_persistent || PATH == PATH_pipe;
// Blocks that the registers must allow on a multiprocessor.
constexpr int kMinBlocks = SM_WARPS > num_warps ? SM_WARPS / num_warps : 1;

static_assert(kThreads % ROWS == 0 && kThreads <= 1024, "rows share a block evenly");
static_assert(VEC_BYTES >= static_cast<int>(sizeof(scalar_t)), "an access moves at least one element");
static_assert(kLoops || static_cast<long long>(BLOCK_SIZE) * CLUSTER >= kColumns,
              "a resident row fits into BLOCK_SIZE");
static_assert(CLUSTER == 1 || (ROWS == 1 && !kPersistent && !kLoops), "a cluster has one resident row");
static_assert(!kLoops || ROWS == 1, "a block that loops over a row has one row");

using Vector = kk::Words<VEC_BYTES>;
using Weights = kk::Words<kVec* static_cast<int>(sizeof(weight_t))>;

constexpr bool kReread = sizeof(scalar_t) == 2 && VEC_BYTES >= 4;
constexpr bool kWeightEarly = W_LOAD == W_LOAD_early && kInRegisters == kHeld && !kLoops;
constexpr bool kRereadWeight = sizeof(weight_t) == 2 && VEC_BYTES >= 4 && kPersistent && kWeightEarly;

struct Strides {
  long long x_row, x_col, w_col, y_row, y_col, rstd_row;
};

// A thread's i-th vector of a row or of a tile: `offset` columns past the thread's first, which is a constant once i
// is.
struct Place {
  int first;  // the thread's first column
  int offset;
  bool whole;  // known to end inside the row
  KTUNE_INLINE int column() const { return first + offset; }
};

KTUNE_INLINE Place place(int lane, int i) {
  const int share = CLUSTER > 1 ? kk::cluster_rank() * kShare : 0;
  return {share + lane * kVec, i * kTpr * kVec, (CLUSTER - 1) * kShare + (i + 1) * kTpr * kVec <= kColumns};
}

// Element `at` of a row whose columns are `step` apart; vectors of several elements want 1.
template <class E>
KTUNE_INLINE E* address(E* row, Place at, long long step) {
  return kVec == 1 ? row + at.first * step + at.offset * step : row + at.first + at.offset;
}

template <kk::LoadHint HINT>
KTUNE_INLINE Vector load_x(const scalar_t* row, Place at, const Strides& stride, bool live) {
  if (!live) return kk::zero_words<VEC_BYTES>();
  return kk::load_columns<scalar_t, kVec, kColumns, HINT>(address(row, at, stride.x_col), at.column(), at.whole);
}

KTUNE_INLINE Weights load_w(const weight_t* w, Place at, const Strides& stride) {
  return kk::load_columns<weight_t, kVec, kColumns>(address(w, at, stride.w_col), at.column(), at.whole);
}

KTUNE_INLINE void store_y(scalar_t* row, Place at, const Strides& stride, const Vector& x, const Weights& w,
                          acc scale) {
  acc value[kVec];
  kk::acc_t<weight_t> weight[kVec];
  kk::Element<scalar_t>::unpack<kVec>(x, value);
  kk::Element<weight_t>::unpack<kVec>(w, weight);
#pragma unroll
  for (int j = 0; j < kVec; ++j) {
    value[j] *= scale;
    if (cast_mode == cast_mode_llama) value[j] = kk::Element<scalar_t>::rounded(value[j]);
    value[j] *= cast_mode == cast_mode_gemma ? acc(1) + static_cast<acc>(weight[j]) : static_cast<acc>(weight[j]);
  }
  kk::store_columns<scalar_t, kVec, kColumns, kk::kStore>(address(row, at, stride.y_col), at.column(), value, at.whole);
}

using SquareSum = kk::SquareSum<scalar_t, kVec>;

KTUNE_INLINE acc scale_of(acc sum, float eps) {
  return kk::inverse_sqrt(sum * (acc(1) / acc(kColumns)) + static_cast<acc>(eps));
}

// A thread's vectors in shared memory, one block-wide stripe a vector: neighbouring threads, neighbouring addresses.
struct Stage {
  char* base;
  kk::AsyncCopies copies;

  KTUNE_INLINE char* at(int i) const { return base + (i * kThreads + static_cast<int>(threadIdx.x)) * VEC_BYTES; }
  KTUNE_INLINE Vector get(int i) const { return kk::load_shared<VEC_BYTES>(at(i)); }

  // Starts copying the thread's vectors from `first` on.
  KTUNE_INLINE void fill(const scalar_t* row, int lane, int first, const Strides& stride, bool live) {
#pragma unroll(kUnrollShared)
    for (int i = 0; i < kInShared; ++i) {
      const Place from = place(lane, first + i);
      if constexpr (VEC_BYTES >= 4) {
        if (live && (from.whole || from.column() + kVec <= kColumns)) {
          copies.template copy<VEC_BYTES>(at(i), address(row, from, stride.x_col));
          continue;
        }
      }
      kk::store_shared<VEC_BYTES>(at(i), load_x<kk::kLoadCached>(row, from, stride, live));
    }
    copies.commit();
  }
};

using ClusterScratch = kk::ClusterScratch<CLUSTER, acc>;

struct Operands {
  const scalar_t* x;
  const weight_t* w;
  scalar_t* y;
  stat_t* rstd;
  long long M;
  float eps;
  Strides stride;
};

// Writes a row whose first kInRegisters vectors are in registers. What is past them is in shared memory.
template <int WEIGHTS>
KTUNE_INLINE void write_row(const Operands& op, long long row, int lane, const Vector* held, const Stage& stage,
                            const Weights (&weight)[WEIGHTS], acc scale, unsigned zero) {
  const bool first = lane == 0 && (CLUSTER == 1 || kk::cluster_rank() == 0);
  if (first) op.rstd[row * op.stride.rstd_row] = static_cast<stat_t>(scale);
  scalar_t* y = op.y + row * op.stride.y_row;
#pragma unroll
  for (int i = 0; i < kInRegisters; ++i) {
    const Place at = place(lane, i);
    const Vector vector = kReread ? kk::reread(held[i], zero) : held[i];
    const Weights factor = kWeightEarly ? weight[kWeightEarly ? i : 0] : load_w(op.w, at, op.stride);
    store_y(y, at, op.stride, vector, kRereadWeight ? kk::reread(factor, zero) : factor, scale);
  }
#pragma unroll(kUnrollShared)
  for (int i = 0; i < kHeld - kInRegisters; ++i) {
    const Place at = place(lane, kInRegisters + i);
    store_y(y, at, op.stride, stage.get(i), load_w(op.w, at, op.stride), scale);
  }
}

// reg, smem, split: one row (or ROWS of them) a block, or a share of one where CLUSTER blocks have it together.
KTUNE_INLINE void one_shot(const Operands& op, char* shared, acc* scratch, ClusterScratch& cluster) {
  const int lane = static_cast<int>(threadIdx.x) % kTpr;
  const long long row = static_cast<long long>(blockIdx.x / CLUSTER) * ROWS + static_cast<int>(threadIdx.x) / kTpr;
  const bool live = ROWS == 1 || row < op.M;
  const scalar_t* x = op.x + (live ? row : 0) * op.stride.x_row;

  if constexpr (CLUSTER > 1) kk::cluster_begin(cluster);
  Stage stage{shared, {}};
  if constexpr (kInShared > 0) stage.fill(x, lane, kInRegisters, op.stride, live);
  Vector held[kInRegisters > 0 ? kInRegisters : 1];
#pragma unroll
  for (int i = 0; i < kInRegisters; ++i) held[i] = load_x<kk::kLoad>(x, place(lane, i), op.stride, live);
  Weights weight[kWeightEarly ? kHeld : 1];
  if constexpr (kWeightEarly) {
#pragma unroll
    for (int i = 0; i < kHeld; ++i) weight[i] = load_w(op.w, place(lane, i), op.stride);
  }

  SquareSum sum;
#pragma unroll
  for (int i = 0; i < kInRegisters; ++i) sum.add(held[i]);
  if constexpr (kInShared > 0) {
    stage.copies.template wait<0>();
#pragma unroll(kUnrollShared)
    for (int i = 0; i < kInShared; ++i) sum.add(stage.get(i));
  }
  acc squares = kk::group_sum<kTpr>(sum.total(), scratch);
  if constexpr (CLUSTER > 1) squares = kk::cluster_sum(squares, cluster);
  const acc scale = scale_of(squares, op.eps);
  if (live) write_row(op, row, lane, held, stage, weight, scale, kk::opaque_zero());
}

// Persistent reg, and pipe: the next row is on its way before this one is summed.
KTUNE_INLINE void persistent(const Operands& op, char* shared, acc* scratch) {
  constexpr bool kPipe = PATH == PATH_pipe;
  const int lane = static_cast<int>(threadIdx.x) % kTpr;
  const long long step = static_cast<long long>(gridDim.x) * ROWS;
  long long first = static_cast<long long>(blockIdx.x) * ROWS;  // of the block's rows: the same for all its threads
  long long row = first + static_cast<int>(threadIdx.x) / kTpr;
  const scalar_t* x = op.x + (row < op.M ? row : 0) * op.stride.x_row;

  Stage stage{shared, {}};
  Vector held[kHeld];
  if constexpr (kPipe) {
    stage.fill(x, lane, 0, op.stride, row < op.M);
  } else {
#pragma unroll
    for (int i = 0; i < kHeld; ++i) held[i] = load_x<kk::kLoad>(x, place(lane, i), op.stride, row < op.M);
  }
  Weights weight[kWeightEarly ? kHeld : 1];
  if constexpr (kWeightEarly) {
#pragma unroll
    for (int i = 0; i < kHeld; ++i) weight[i] = load_w(op.w, place(lane, i), op.stride);
  }

  int turn = 0;
#pragma unroll 1
  for (; first < op.M; first += step, row += step) {
    const bool more = first + step < op.M;
    const bool next_live = row + step < op.M;
    x = op.x + (next_live ? row + step : 0) * op.stride.x_row;
    SquareSum sum;
    Vector next[kPipe ? 1 : kHeld];
    if constexpr (kPipe) {
      stage.copies.template wait<0>();
#pragma unroll
      for (int i = 0; i < kHeld; ++i) {
        held[i] = stage.get(i);
        sum.add(held[i]);
      }
      if (more) stage.fill(x, lane, 0, op.stride, next_live);
    } else {
      if (more) {
#pragma unroll
        for (int i = 0; i < kHeld; ++i) next[i] = load_x<kk::kLoad>(x, place(lane, i), op.stride, next_live);
      }
#pragma unroll
      for (int i = 0; i < kHeld; ++i) sum.add(held[i]);
    }
    // Two halves of scratch in turn, so that one barrier a row is enough.
    const acc scale = scale_of(kk::group_sum<kTpr>(sum.total(), scratch + turn), op.eps);
    turn = num_warps - turn;
    // A zero of this row's own: with one that is the same for all rows the unpacked weight would stay in registers.
    const unsigned zero =
        kRereadWeight ? static_cast<unsigned>(static_cast<unsigned long long>(first) >> 62) : kk::opaque_zero();
    if (ROWS == 1 || row < op.M) write_row(op, row, lane, held, stage, weight, scale, zero);
    if constexpr (!kPipe) {
#pragma unroll
      for (int i = 0; i < kHeld; ++i) held[i] = next[i];
    }
  }
}

// One tile of BLOCK_SIZE columns of a row that is looped over. WHOLE: it is known to end inside the row.
template <bool WHOLE>
struct Tile {
  int first_column;

  KTUNE_INLINE Place at(int i) const {
    return {first_column + static_cast<int>(threadIdx.x) * kVec, i * kTpr * kVec, WHOLE};
  }
  template <kk::LoadHint HINT>
  KTUNE_INLINE void load(Vector (&held)[kHeld], const scalar_t* x, const Strides& stride) const {
#pragma unroll
    for (int i = 0; i < kHeld; ++i) held[i] = load_x<HINT>(x, at(i), stride, true);
  }
  KTUNE_INLINE void add(SquareSum& sum, const Vector (&held)[kHeld]) const {
#pragma unroll
    for (int i = 0; i < kHeld; ++i) sum.add(held[i]);
  }
  KTUNE_INLINE void write(const Operands& op, scalar_t* y, const Vector (&held)[kHeld], acc scale) const {
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      const Vector vector = kReread ? kk::reread(held[i], kk::opaque_zero()) : held[i];
      store_y(y, at(i), op.stride, vector, load_w(op.w, at(i), op.stride), scale);
    }
  }
};

// loop, loop_rev: the first reading keeps nothing, so its lines stay in L2 for the second, which is their last use.
KTUNE_INLINE void looped(const Operands& op, acc* scratch) {
  constexpr bool kBackwards = PATH == PATH_loop_rev;
  constexpr int kWholeTiles = kColumns / BLOCK_SIZE;
  constexpr bool kRagged = kColumns % BLOCK_SIZE != 0;
  const long long row = blockIdx.x;
  const scalar_t* x = op.x + row * op.stride.x_row;
  scalar_t* y = op.y + row * op.stride.y_row;
  const Tile<false> last{kWholeTiles * BLOCK_SIZE};

  SquareSum sum;
  Vector held[kHeld];
#pragma unroll 1
  for (int tile = 0; tile < kWholeTiles; ++tile) {
    const Tile<true> here{tile * BLOCK_SIZE};
    here.template load<kk::kLoadCached>(held, x, op.stride);
    here.add(sum, held);
  }
  if constexpr (kRagged) {
    last.template load<kk::kLoadCached>(held, x, op.stride);
    last.add(sum, held);
  }
  const acc scale = scale_of(kk::group_sum<kTpr>(sum.total(), scratch), op.eps);
  if (threadIdx.x == 0) op.rstd[row * op.stride.rstd_row] = static_cast<stat_t>(scale);

  if constexpr (kBackwards) {
    // `held` still has the last tile.
    if constexpr (kRagged) last.write(op, y, held, scale);
#pragma unroll 1
    for (int tile = kWholeTiles - 1; tile >= 0; --tile) {
      const Tile<true> here{tile * BLOCK_SIZE};
      if (kRagged || tile != kWholeTiles - 1) here.template load<kk::kLoad>(held, x, op.stride);
      here.write(op, y, held, scale);
    }
  } else {
#pragma unroll 1
    for (int tile = 0; tile < kWholeTiles; ++tile) {
      const Tile<true> here{tile * BLOCK_SIZE};
      here.template load<kk::kLoad>(held, x, op.stride);
      here.write(op, y, held, scale);
    }
    if constexpr (kRagged) {
      last.template load<kk::kLoad>(held, x, op.stride);
      last.write(op, y, held, scale);
    }
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads, kMinBlocks)
    rmsnorm(const scalar_t* __restrict__ x, const weight_t* __restrict__ w, scalar_t* __restrict__ y,
            stat_t* __restrict__ rstd, long long M, long long x_row, long long x_col, long long w_col, long long y_row,
            long long y_col, long long rstd_row, float eps) {
  alignas(16) __shared__ acc scratch[2 * num_warps];
  __shared__ ClusterScratch cluster;
  extern __shared__ char shared[];
  const Operands op{x, w, y, rstd, M, eps, {x_row, x_col, w_col, y_row, y_col, rstd_row}};
  if constexpr (kLoops) {
    looped(op, scratch);
  } else if constexpr (kPersistent) {
    persistent(op, shared, scratch);
  } else {
    one_shot(op, shared, scratch, cluster);
  }
}

#endif
