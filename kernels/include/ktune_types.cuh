#pragma once

// Element types as kernels see them. A vector of elements lives in 32-bit words, as it came from memory, and is
// converted when it is used: a row of bf16 held in registers then costs half of what floats would, and that decides how
// many rows a multiprocessor has in flight.
//
// Sums are made in acc_t<E>: f32, and f64 for f64. Conversions round to nearest even, once.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define KTUNE_INLINE __device__ __forceinline__

namespace ktune_kernel {

template <int BYTES>
struct Words {
  static_assert(BYTES % 4 == 0 && BYTES >= 4, "a vector is whole 32-bit words");
  unsigned word[BYTES / 4];
};
template <>
struct Words<2> {
  unsigned short half;
};

#ifdef KTUNE_CPU
KTUNE_INLINE float float_of_bits(unsigned bits) { return __builtin_bit_cast(float, bits); }
KTUNE_INLINE unsigned bits_of_float(float value) { return __builtin_bit_cast(unsigned, value); }
KTUNE_INLINE double double_of_words(unsigned low, unsigned high) {
  return __builtin_bit_cast(double, (static_cast<unsigned long long>(high) << 32) | low);
}
KTUNE_INLINE unsigned low_word(double value) {
  return static_cast<unsigned>(__builtin_bit_cast(unsigned long long, value));
}
KTUNE_INLINE unsigned high_word(double value) {
  return static_cast<unsigned>(__builtin_bit_cast(unsigned long long, value) >> 32);
}
KTUNE_INLINE unsigned short f16_bits(float value) {
  return __builtin_bit_cast(unsigned short, static_cast<__half_raw>(__float2half_rn(value)));
}
KTUNE_INLINE unsigned short bf16_bits(float value) {
  return __builtin_bit_cast(unsigned short, static_cast<__nv_bfloat16_raw>(__float2bfloat16_rn(value)));
}
KTUNE_INLINE unsigned f16_pair(float low, float high) {
  return (static_cast<unsigned>(f16_bits(high)) << 16) | f16_bits(low);
}
KTUNE_INLINE unsigned bf16_pair(float low, float high) {
  return (static_cast<unsigned>(bf16_bits(high)) << 16) | bf16_bits(low);
}
KTUNE_INLINE float inverse_sqrt(float value) { return 1.0f / sqrtf(value); }
KTUNE_INLINE double inverse_sqrt(double value) { return 1.0 / sqrt(value); }
#else
KTUNE_INLINE float float_of_bits(unsigned bits) { return __uint_as_float(bits); }
KTUNE_INLINE unsigned bits_of_float(float value) { return __float_as_uint(value); }
KTUNE_INLINE double double_of_words(unsigned low, unsigned high) {
  return __hiloint2double(static_cast<int>(high), static_cast<int>(low));
}
KTUNE_INLINE unsigned low_word(double value) { return static_cast<unsigned>(__double2loint(value)); }
KTUNE_INLINE unsigned high_word(double value) { return static_cast<unsigned>(__double2hiint(value)); }
KTUNE_INLINE unsigned short f16_bits(float value) { return __half_as_ushort(__float2half_rn(value)); }
KTUNE_INLINE unsigned short bf16_bits(float value) { return __bfloat16_as_ushort(__float2bfloat16_rn(value)); }
KTUNE_INLINE unsigned f16_pair(float low, float high) {
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
KTUNE_INLINE unsigned bf16_pair(float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
KTUNE_INLINE float inverse_sqrt(float value) { return rsqrtf(value); }
KTUNE_INLINE double inverse_sqrt(double value) { return 1.0 / sqrt(value); }
#endif

KTUNE_INLINE float float_of_f16(unsigned short bits) {
  __half_raw raw;
  raw.x = bits;
  return __half2float(__half(raw));
}

/// What a kernel needs to know of an element type E: what it sums in, and its bits to and from that.
template <class E>
struct Element;

template <>
struct Element<float> {
  using acc = float;
  template <int VEC>
  static KTUNE_INLINE void unpack(const Words<4 * VEC>& from, float (&to)[VEC]) {
#pragma unroll
    for (int i = 0; i < VEC; ++i) to[i] = float_of_bits(from.word[i]);
  }
  template <int VEC>
  static KTUNE_INLINE Words<4 * VEC> pack(const float (&from)[VEC]) {
    Words<4 * VEC> to;
#pragma unroll
    for (int i = 0; i < VEC; ++i) to.word[i] = bits_of_float(from[i]);
    return to;
  }
  static KTUNE_INLINE float rounded(float value) { return value; }
};

template <>
struct Element<double> {
  using acc = double;
  template <int VEC>
  static KTUNE_INLINE void unpack(const Words<8 * VEC>& from, double (&to)[VEC]) {
#pragma unroll
    for (int i = 0; i < VEC; ++i) to[i] = double_of_words(from.word[2 * i], from.word[2 * i + 1]);
  }
  template <int VEC>
  static KTUNE_INLINE Words<8 * VEC> pack(const double (&from)[VEC]) {
    Words<8 * VEC> to;
#pragma unroll
    for (int i = 0; i < VEC; ++i) {
      to.word[2 * i] = low_word(from[i]);
      to.word[2 * i + 1] = high_word(from[i]);
    }
    return to;
  }
  static KTUNE_INLINE double rounded(double value) { return value; }
};

template <>
struct Element<__half> {
  using acc = float;
  template <int VEC>
  static KTUNE_INLINE void unpack(const Words<2 * VEC>& from, float (&to)[VEC]) {
    if constexpr (VEC == 1) {
      to[0] = float_of_f16(from.half);
    } else {
#pragma unroll
      for (int i = 0; i < VEC; i += 2) {
        to[i] = float_of_f16(static_cast<unsigned short>(from.word[i / 2] & 0xffffu));
        to[i + 1] = float_of_f16(static_cast<unsigned short>(from.word[i / 2] >> 16));
      }
    }
  }
  template <int VEC>
  static KTUNE_INLINE Words<2 * VEC> pack(const float (&from)[VEC]) {
    Words<2 * VEC> to;
    if constexpr (VEC == 1) {
      to.half = f16_bits(from[0]);
    } else {
#pragma unroll
      for (int i = 0; i < VEC; i += 2) to.word[i / 2] = f16_pair(from[i], from[i + 1]);
    }
    return to;
  }
  static KTUNE_INLINE float rounded(float value) { return float_of_f16(f16_bits(value)); }
};

template <>
struct Element<__nv_bfloat16> {
  using acc = float;
  template <int VEC>
  static KTUNE_INLINE void unpack(const Words<2 * VEC>& from, float (&to)[VEC]) {
    if constexpr (VEC == 1) {
      to[0] = float_of_bits(static_cast<unsigned>(from.half) << 16);
    } else {
#pragma unroll
      for (int i = 0; i < VEC; i += 2) {
        to[i] = float_of_bits(from.word[i / 2] << 16);
        to[i + 1] = float_of_bits(from.word[i / 2] & 0xffff0000u);
      }
    }
  }
  template <int VEC>
  static KTUNE_INLINE Words<2 * VEC> pack(const float (&from)[VEC]) {
    Words<2 * VEC> to;
    if constexpr (VEC == 1) {
      to.half = bf16_bits(from[0]);
    } else {
#pragma unroll
      for (int i = 0; i < VEC; i += 2) to.word[i / 2] = bf16_pair(from[i], from[i + 1]);
    }
    return to;
  }
  static KTUNE_INLINE float rounded(float value) {
    return float_of_bits(static_cast<unsigned>(bf16_bits(value)) << 16);
  }
};

template <class E>
using acc_t = typename Element<E>::acc;

/// One element as what sums are made in, and back, rounded once.
KTUNE_INLINE float to_acc(float value) { return value; }
KTUNE_INLINE double to_acc(double value) { return value; }
KTUNE_INLINE float to_acc(__half value) { return __half2float(value); }
KTUNE_INLINE float to_acc(__nv_bfloat16 value) { return __bfloat162float(value); }
template <class E>
KTUNE_INLINE E from_acc(acc_t<E> value) {
  return static_cast<E>(value);
}
template <>
KTUNE_INLINE __half from_acc<__half>(float value) {
  return __float2half_rn(value);
}
template <>
KTUNE_INLINE __nv_bfloat16 from_acc<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

/// One element as f64, and f64 as one element rounded once: for the references. f64 → f32 → 16 bits would round twice.
KTUNE_INLINE double to_f64(float value) { return value; }
KTUNE_INLINE double to_f64(double value) { return value; }
KTUNE_INLINE double to_f64(__half value) { return __half2float(value); }
KTUNE_INLINE double to_f64(__nv_bfloat16 value) { return __bfloat162float(value); }
template <class E>
KTUNE_INLINE E from_f64(double value) {
  return static_cast<E>(value);
}
template <>
KTUNE_INLINE __half from_f64<__half>(double value) {
  return __double2half(value);
}
template <>
KTUNE_INLINE __nv_bfloat16 from_f64<__nv_bfloat16>(double value) {
  return __double2bfloat16(value);
}

}  // namespace ktune_kernel
