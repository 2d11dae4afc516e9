#pragma once

// The values inputs are filled with, and the checksum of memory: pure functions of (seed, index), so that any element
// can be made by itself, on any device, in any order, and is the same each time. Plain C++17: the host compiler, nvcc
// and NVRTC all take this text, and no header is needed on the device.
//
// A value is made in f64 and rounded once to the tensor's type. Host and GPU may differ in the last bit of a normal
// (their log and cos do); nothing compares inputs across devices.

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define KTUNE_RANDOM_FN __host__ __device__ inline
#else
#include <cmath>
#define KTUNE_RANDOM_FN inline
#endif

namespace ktune_random {

// The numbers of model::InitKind, in its order.
enum Kind { kNormal, kUniform, kZeros, kOnes, kConstant, kRandint, kZeroRow, kSpecial };

// A bijection on 64-bit words in which every input bit reaches every output bit (the finaliser of SplitMix64).
KTUNE_RANDOM_FN unsigned long long mix(unsigned long long word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
  return word ^ (word >> 31);
}

// 64 random bits of (seed, index). The seed is mixed first, so that neighbouring seeds do not give shifted streams.
KTUNE_RANDOM_FN unsigned long long hash(unsigned long long seed, unsigned long long index) {
  return mix(mix(seed + 0x9e3779b97f4a7c15ULL) ^ (index * 0x9e3779b97f4a7c15ULL + 0x632be59bd9b4e019ULL));
}

// Uniform on [0, 1), a multiple of 2^-53.
KTUNE_RANDOM_FN double uniform(unsigned long long seed, unsigned long long index) {
  return static_cast<double>(hash(seed, index) >> 11) * 0x1p-53;
}

// Standard normal (Box and Muller). Two independent uniforms: the second from the hash's hash.
KTUNE_RANDOM_FN double normal(unsigned long long seed, unsigned long long index) {
  const unsigned long long first = hash(seed, index);
  const unsigned long long second = mix(first ^ 0xd1b54a32d192ed03ULL);
  const double radius_uniform = (static_cast<double>(first >> 11) + 1.0) * 0x1p-53;  // (0, 1]: its logarithm is finite
  const double angle = 6.283185307179586 * (static_cast<double>(second >> 11) * 0x1p-53);
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
  return sqrt(-2.0 * log(radius_uniform)) * cos(angle);
#else
  return std::sqrt(-2.0 * std::log(radius_uniform)) * std::cos(angle);
#endif
}

// An integer of [low, high); low when the range is empty.
KTUNE_RANDOM_FN long long randint(unsigned long long seed, unsigned long long index, long long low, long long high) {
  if (high <= low) return low;
  return low + static_cast<long long>(hash(seed, index) % static_cast<unsigned long long>(high - low));
}

// About one element in 97 is NaN, +inf, -inf, +0 or -0; the others are normal(a, b).
KTUNE_RANDOM_FN double special(unsigned long long seed, unsigned long long index, double a, double b) {
  const unsigned long long pick = hash(seed ^ 0xa0761d6478bd642fULL, index);
  if (pick % 97 != 0) return a + b * normal(seed, index);
  const double infinity = 1e308 * 10.0;
  switch ((pick / 97) % 5) {
    case 0:
      return infinity - infinity;
    case 1:
      return infinity;
    case 2:
      return -infinity;
    case 3:
      return 0.0;
    default:
      return -0.0;
  }
}

// The value of one element. `index` is the logical (row-major) index and `row` is index / (last dimension), both with
// coordinate 0 in every dimension of stride 0. kZeroRow zeroes rows 2, 5, 8, …: a single row is not all zero.
KTUNE_RANDOM_FN double element(int kind, double a, double b, unsigned long long seed, unsigned long long index,
                               unsigned long long row) {
  switch (kind) {
    case kNormal:
      return a + b * normal(seed, index);
    case kUniform:
      return a + (b - a) * uniform(seed, index);
    case kZeros:
      return 0.0;
    case kOnes:
      return 1.0;
    case kConstant:
      return a;
    case kRandint:
      return static_cast<double>(randint(seed, index, static_cast<long long>(a), static_cast<long long>(b)));
    case kZeroRow:
      return row % 3 == 2 ? 0.0 : a + b * normal(seed, index);
    case kSpecial:
      return special(seed, index, a, b);
    default:
      return 0.0;
  }
}

// The checksum of memory is the sum, modulo 2^64, of this over its 32-bit words (little-endian, the tail padded with
// zero bytes), plus mix(number of bytes): it depends on the order of the words, and any order of summing gives it.
KTUNE_RANDOM_FN unsigned long long checksum_term(unsigned int word, unsigned long long index) {
  return mix((index + 1) * 0x9e3779b97f4a7c15ULL ^ mix(word + 0x2545f4914f6cdd1dULL));
}

}  // namespace ktune_random
