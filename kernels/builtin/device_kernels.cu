// What ktune itself does in a GPU's memory: fill inputs, poison and compare outputs, watch guard bands, empty the cache
// between samples, hold a stream. The host's twin of each is src/device/host_memory.h: same values, same answers.
//
// All indices are 64 bits wide, every loop is a grid-stride loop, and nothing depends on the order of blocks.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "ktune_random.cuh"

namespace {

using u64 = unsigned long long;
using i64 = long long;

constexpr int kMaxRank = 8;

// The host passes this by value (src/device/cuda/builtin.cpp has the same one).
struct Layout {
  i64 shape[kMaxRank];
  i64 stride[kMaxRank];  // elements; 0: every coordinate of this dimension is the same element
  i64 offset;
  i64 count;  // product of the shape over the dimensions whose stride is not 0
  int rank;
  int dtype;
};

struct Comparison {
  u64 elements;
  u64 mismatches;
  u64 unwritten;
  u64 first;         // the complement of the smallest index; 0: none
  u64 worst_margin;  // bits of a double ≥ 0, which order as integers do
  double margins;    // sum of squares
  double size;       // sum of |reference|
  double sizes;      // sum of squares
};

// model::DType in its order.
enum DType { kF16, kBf16, kF32, kF64, kI8, kU8, kI32, kI64 };

__device__ u64 thread_index() { return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ u64 thread_count() { return static_cast<u64>(gridDim.x) * blockDim.x; }

__device__ u64 now_ns() {
  u64 ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

// To the nearest integer of [low, high]; NaN is 0.
__device__ double whole(double value, double low, double high) {
  if (value != value) return 0.0;
  return fmin(fmax(rint(value), low), high);
}

__device__ i64 whole_i64(double value) {
  if (value != value) return 0;
  if (value >= 9223372036854775808.0) return 9223372036854775807LL;
  if (value <= -9223372036854775808.0) return -9223372036854775807LL - 1;
  return __double2ll_rn(value);
}

__device__ void store_element(void* base, i64 index, int dtype, double value) {
  switch (dtype) {
    case kF16:
      static_cast<__half*>(base)[index] = __double2half(value);
      break;
    case kBf16:
      static_cast<__nv_bfloat16*>(base)[index] = __double2bfloat16(value);
      break;
    case kF32:
      static_cast<float*>(base)[index] = __double2float_rn(value);
      break;
    case kF64:
      static_cast<double*>(base)[index] = value;
      break;
    case kI8:
      static_cast<signed char*>(base)[index] = static_cast<signed char>(whole(value, -128.0, 127.0));
      break;
    case kU8:
      static_cast<unsigned char*>(base)[index] = static_cast<unsigned char>(whole(value, 0.0, 255.0));
      break;
    case kI32:
      static_cast<int*>(base)[index] = static_cast<int>(whole(value, -2147483648.0, 2147483647.0));
      break;
    default:
      static_cast<i64*>(base)[index] = whole_i64(value);
  }
}

__device__ double load_element(const void* base, u64 index, int dtype) {
  switch (dtype) {
    case kF16:
      return __half2float(static_cast<const __half*>(base)[index]);
    case kBf16:
      return __bfloat162float(static_cast<const __nv_bfloat16*>(base)[index]);
    case kF32:
      return static_cast<const float*>(base)[index];
    case kF64:
      return static_cast<const double*>(base)[index];
    case kI8:
      return static_cast<const signed char*>(base)[index];
    case kU8:
      return static_cast<const unsigned char*>(base)[index];
    case kI32:
      return static_cast<const int*>(base)[index];
    default:
      return static_cast<double>(static_cast<const i64*>(base)[index]);
  }
}

__device__ int size_of(int dtype) {
  switch (dtype) {
    case kF16:
    case kBf16:
      return 2;
    case kF32:
    case kI32:
      return 4;
    case kI8:
    case kU8:
      return 1;
    default:
      return 8;
  }
}

// Does the element hold the poison's bytes at its place?
__device__ bool is_poison(const void* base, u64 index, int size, unsigned pattern) {
  switch (size) {
    case 1:
      return static_cast<const unsigned char*>(base)[index] == ((pattern >> (8 * (index % 4))) & 0xffu);
    case 2:
      return static_cast<const unsigned short*>(base)[index] == ((pattern >> (16 * (index % 2))) & 0xffffu);
    case 4:
      return static_cast<const unsigned*>(base)[index] == pattern;
    default:
      return static_cast<const u64*>(base)[index] == ((static_cast<u64>(pattern) << 32) | pattern);
  }
}

// Do two elements hold the same bytes?
__device__ bool is_same(const void* a, const void* b, u64 index, int size) {
  switch (size) {
    case 1:
      return static_cast<const unsigned char*>(a)[index] == static_cast<const unsigned char*>(b)[index];
    case 2:
      return static_cast<const unsigned short*>(a)[index] == static_cast<const unsigned short*>(b)[index];
    case 4:
      return static_cast<const unsigned*>(a)[index] == static_cast<const unsigned*>(b)[index];
    default:
      return static_cast<const u64*>(a)[index] == static_cast<const u64*>(b)[index];
  }
}

// |out - reference|; exact zero only when they are equal, which f64 does not tell of large i64.
__device__ double distance(const void* out, const void* reference, u64 index, int dtype, double got, double want) {
  if (dtype != kI64) return fabs(got - want);
  const i64 a = static_cast<const i64*>(out)[index];
  const i64 b = static_cast<const i64*>(reference)[index];
  return static_cast<double>(a > b ? static_cast<u64>(a) - static_cast<u64>(b)
                                   : static_cast<u64>(b) - static_cast<u64>(a));
}

__device__ bool is_finite(double value) { return value - value == 0.0; }

template <typename T>
__device__ T warp_sum(T value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

// Adds up over the warp, then to *to; nothing where the sum is 0.
__device__ void add_to(double* to, double value) {
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0 && value != 0.0) atomicAdd(to, value);
}

}  // namespace

extern "C" __global__ void ktune_fill(void* base, Layout layout, int kind, double a, double b, u64 seed) {
  const i64 last = layout.rank > 0 ? layout.shape[layout.rank - 1] : 1;
  for (u64 item = thread_index(); item < static_cast<u64>(layout.count); item += thread_count()) {
    u64 rest = item;
    u64 logical = 0;
    u64 weight = 1;
    i64 at = layout.offset;
    for (int d = layout.rank - 1; d >= 0; --d) {
      const u64 size = static_cast<u64>(layout.shape[d]);
      if (layout.stride[d] != 0) {
        const u64 coordinate = rest % size;
        rest /= size;
        at += static_cast<i64>(coordinate) * layout.stride[d];
        logical += coordinate * weight;
      }
      weight *= size;
    }
    const u64 row = logical / static_cast<u64>(last);
    store_element(base, at, layout.dtype, ktune_random::element(kind, a, b, seed, logical, row));
  }
}

extern "C" __global__ void ktune_poison(unsigned char* at, u64 bytes, unsigned pattern) {
  for (u64 i = thread_index(); i < bytes; i += thread_count()) {
    at[i] = static_cast<unsigned char>(pattern >> (8 * (i % 4)));
  }
}

extern "C" __global__ void ktune_first_changed(const unsigned char* at, u64 bytes, unsigned pattern, u64* first) {
  for (u64 i = thread_index(); i < bytes; i += thread_count()) {
    if (at[i] == ((pattern >> (8 * (i % 4))) & 0xffu)) continue;
    atomicMin(first, i);
    return;  // this thread's later bytes come after
  }
}

// Looks at one run of `run` elements in `period`, the one numbered `phase`; adds to *result, all zero before the first.
extern "C" __global__ void ktune_compare(const void* out, const void* reference, u64 count, int dtype, double rtol,
                                         double atol, unsigned out_pattern, unsigned reference_pattern, int may_stay,
                                         u64 run, u64 period, u64 phase, double huge, Comparison* result) {
  const int size = size_of(dtype);
  const u64 runs = (count + run - 1) / run;
  const u64 items = phase < runs ? (runs - phase + period - 1) / period * run : 0;
  u64 elements = 0;
  u64 mismatches = 0;
  u64 unwritten = 0;
  u64 first = ~0ULL;
  double worst = 0.0;
  double margins = 0.0;
  double size_sum = 0.0;
  double size_squares = 0.0;
  for (u64 item = thread_index(); item < items; item += thread_count()) {
    const u64 i = (item / run * period + phase) * run + item % run;
    if (i >= count) continue;
    const bool out_poison = is_poison(out, i, size, out_pattern);
    const bool reference_poison = may_stay != 0 && is_poison(reference, i, size, reference_pattern);
    if (out_poison && reference_poison) continue;
    ++elements;
    const double want = load_element(reference, i, dtype);
    if (is_finite(want)) {
      size_sum += fabs(want);
      size_squares += want * want;
    }
    if (is_same(out, reference, i, size)) continue;
    bool good = out_poison == reference_poison;
    if (!good) {
      ++unwritten;
    } else {
      const double got = load_element(out, i, dtype);
      if (is_finite(got) && is_finite(want)) {
        const double difference = distance(out, reference, i, dtype, got, want);
        const double allowed = atol + rtol * fabs(want);
        const double margin = difference == 0.0 ? 0.0 : fmin(difference / allowed, huge);
        worst = fmax(worst, margin);
        margins += margin * margin;
        good = margin <= 1.0;
      } else {
        good = (got != got && want != want) || got == want;
      }
      if (!good) ++mismatches;
    }
    if (!good && first == ~0ULL) first = i;
  }
  const u64 warp_elements = warp_sum(elements);
  if (threadIdx.x % 32 == 0) atomicAdd(&result->elements, warp_elements);
  if (mismatches != 0) atomicAdd(&result->mismatches, mismatches);
  if (unwritten != 0) atomicAdd(&result->unwritten, unwritten);
  if (first != ~0ULL) atomicMax(&result->first, ~first);
  add_to(&result->margins, margins);
  add_to(&result->size, size_sum);
  add_to(&result->sizes, size_squares);
  for (int offset = 16; offset > 0; offset /= 2) {
    worst = fmax(worst, __shfl_down_sync(0xffffffffu, worst, offset));
  }
  if (threadIdx.x % 32 == 0 && worst > 0.0) {
    atomicMax(&result->worst_margin, static_cast<u64>(__double_as_longlong(worst)));
  }
}

extern "C" __global__ void ktune_checksum(const unsigned char* at, u64 bytes, u64* sum) {
  const u64 words = (bytes + 3) / 4;
  const bool aligned = reinterpret_cast<u64>(at) % 4 == 0;
  u64 total = 0;
  for (u64 i = thread_index(); i < words; i += thread_count()) {
    unsigned word = 0;
    if (aligned && 4 * i + 4 <= bytes) {
      word = reinterpret_cast<const unsigned*>(at)[i];
    } else {
      for (u64 byte = 0; byte < 4 && 4 * i + byte < bytes; ++byte) {
        word |= static_cast<unsigned>(at[4 * i + byte]) << (8 * byte);
      }
    }
    total += ktune_random::checksum_term(word, i);
  }
  total = warp_sum(total);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, total);
}

// Fills L2 with lines of its own. The words differ from sample to sample: constant data draws less power and clocks
// higher than the work around it.
extern "C" __global__ void ktune_evict_write(uint4* at, u64 count, unsigned seed) {
  for (u64 i = thread_index(); i < count; i += thread_count()) {
    const unsigned word = (static_cast<unsigned>(i) ^ seed) * 0x9e3779b9u;
    at[i] = make_uint4(word, word * 0x85ebca6bu, word ^ (word >> 15), word * 0xc2b2ae35u);
  }
}

// Drops those lines without writing them back: otherwise the next kernel pays for the write-back.
extern "C" __global__ void ktune_evict_discard(unsigned char* at, u64 lines) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  for (u64 i = thread_index(); i < lines; i += thread_count()) {
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(at + 128 * i) : "memory");
  }
#endif
}

// Reads memory that nothing has written lately, so that L2 holds clean lines of it.
extern "C" __global__ void ktune_read_sweep(const uint4* at, u64 count, unsigned* sink) {
  unsigned seen = 0;
  for (u64 i = thread_index(); i < count; i += thread_count()) {
    const uint4 words = at[i];
    seen ^= words.x ^ words.y ^ words.z ^ words.w;
  }
  if (seen == 0x5bd1e995u) *sink = seen;  // practically never; the reads must not be removed
}

// Keeps the stream until the host raises *flag to `goal`, so that what is queued behind starts back to back. Gives up
// after limit_ns: a host that cannot queue any more must not wait for a stream that waits for the host.
extern "C" __global__ void ktune_hold(const volatile unsigned* flag, unsigned goal, volatile unsigned* gave_up,
                                      u64 limit_ns) {
  const u64 start = now_ns();
  while (static_cast<int>(*flag - goal) < 0) {
    if (now_ns() - start > limit_ns) {
      *gave_up = goal;
      return;
    }
  }
}

// Lasts `ns`, whatever the clock: a timer's self-test.
extern "C" __global__ void ktune_spin(u64 ns) {
  const u64 start = now_ns();
  while (now_ns() - start < ns) {
  }
}

extern "C" __global__ void ktune_nothing() {}

// A copy of 16-byte words: what a GPU's copy rate is measured with in tests.
extern "C" __global__ void ktune_copy(const uint4* from, uint4* to, u64 count) {
  for (u64 i = thread_index(); i < count; i += thread_count()) to[i] = from[i];
}
