#pragma once

// CUDA's device functions that the C++ library has no name for. "Fast" ones are as exact as the library's.

#define KTUNE_CPU_UNARY(name, type, expression) \
  inline type name(type x) { return expression; }
#define KTUNE_CPU_BINARY(name, type, expression) \
  inline type name(type x, type y) { return expression; }
#define KTUNE_CPU_TERNARY(name, type, expression) \
  inline type name(type x, type y, type z) { return expression; }

KTUNE_CPU_UNARY(rsqrtf, float, 1.0f / sqrtf(x))
KTUNE_CPU_UNARY(rsqrt, double, 1.0 / sqrt(x))
inline float rsqrt(float x) { return rsqrtf(x); }
KTUNE_CPU_UNARY(rcbrtf, float, 1.0f / cbrtf(x))
KTUNE_CPU_UNARY(rcbrt, double, 1.0 / cbrt(x))
KTUNE_CPU_UNARY(__expf, float, expf(x))
KTUNE_CPU_UNARY(__exp10f, float, powf(10.0f, x))
KTUNE_CPU_UNARY(__logf, float, logf(x))
KTUNE_CPU_UNARY(__log2f, float, log2f(x))
KTUNE_CPU_UNARY(__log10f, float, log10f(x))
KTUNE_CPU_UNARY(__sinf, float, sinf(x))
KTUNE_CPU_UNARY(__cosf, float, cosf(x))
KTUNE_CPU_UNARY(__tanf, float, tanf(x))
KTUNE_CPU_UNARY(__tanhf, float, tanhf(x))
KTUNE_CPU_UNARY(__saturatef, float, x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f)
KTUNE_CPU_UNARY(sinpif, float, static_cast<float>(sin(3.141592653589793 * static_cast<double>(fmodf(x, 2.0f)))))
KTUNE_CPU_UNARY(cospif, float, static_cast<float>(cos(3.141592653589793 * static_cast<double>(fmodf(x, 2.0f)))))
KTUNE_CPU_UNARY(normcdff, float, static_cast<float>(0.5 * erfc(-static_cast<double>(x) * 0.7071067811865476)))
KTUNE_CPU_UNARY(normcdf, double, 0.5 * erfc(-x * 0.7071067811865476))
KTUNE_CPU_BINARY(__powf, float, powf(x, y))
KTUNE_CPU_BINARY(__fdividef, float, x / y)
KTUNE_CPU_BINARY(fdividef, float, x / y)
inline void __sincosf(float x, float* s, float* c) {
  *s = sinf(x);
  *c = cosf(x);
}

KTUNE_CPU_BINARY(__fadd_rn, float, x + y)
KTUNE_CPU_BINARY(__fsub_rn, float, x - y)
KTUNE_CPU_BINARY(__fmul_rn, float, x* y)
KTUNE_CPU_BINARY(__fdiv_rn, float, x / y)
KTUNE_CPU_TERNARY(__fmaf_rn, float, fmaf(x, y, z))
KTUNE_CPU_UNARY(__frcp_rn, float, 1.0f / x)
KTUNE_CPU_UNARY(__fsqrt_rn, float, sqrtf(x))
KTUNE_CPU_UNARY(__frsqrt_rn, float, static_cast<float>(1.0 / sqrt(static_cast<double>(x))))
KTUNE_CPU_BINARY(__dadd_rn, double, x + y)
KTUNE_CPU_BINARY(__dsub_rn, double, x - y)
KTUNE_CPU_BINARY(__dmul_rn, double, x* y)
KTUNE_CPU_BINARY(__ddiv_rn, double, x / y)
KTUNE_CPU_TERNARY(__fma_rn, double, fma(x, y, z))
KTUNE_CPU_UNARY(__drcp_rn, double, 1.0 / x)
KTUNE_CPU_UNARY(__dsqrt_rn, double, sqrt(x))

inline float __int_as_float(int x) { return ktune_cpu::from_bits<float>(ktune_cpu::to_bits(x)); }
inline float __uint_as_float(unsigned x) { return ktune_cpu::from_bits<float>(x); }
inline int __float_as_int(float x) { return ktune_cpu::from_bits<int>(ktune_cpu::to_bits(x)); }
inline unsigned __float_as_uint(float x) { return ktune_cpu::from_bits<unsigned>(ktune_cpu::to_bits(x)); }
inline long long __double_as_longlong(double x) { return ktune_cpu::from_bits<long long>(ktune_cpu::to_bits(x)); }
inline double __longlong_as_double(long long x) { return ktune_cpu::from_bits<double>(ktune_cpu::to_bits(x)); }
inline int __double2hiint(double x) { return static_cast<int>(ktune_cpu::to_bits(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(ktune_cpu::to_bits(x)); }
inline double __hiloint2double(int high, int low) {
  return ktune_cpu::from_bits<double>((static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32) |
                                      static_cast<unsigned>(low));
}

namespace ktune_cpu {
/// A GPU clamps a conversion to the target's range and gives 0 for NaN; C++ leaves both undefined.
template <class I, class F>
inline I clamped(F x) {
  if (x != x) return 0;
  if (x <= static_cast<F>(std::numeric_limits<I>::min())) return std::numeric_limits<I>::min();
  if (x >= static_cast<F>(std::numeric_limits<I>::max())) return std::numeric_limits<I>::max();
  return static_cast<I>(x);
}
}  // namespace ktune_cpu
#define KTUNE_CPU_CONVERT(prefix, from, word, to)                                                  \
  inline to __##prefix##2##word##_rn(from x) { return ktune_cpu::clamped<to>(std::nearbyint(x)); } \
  inline to __##prefix##2##word##_rz(from x) { return ktune_cpu::clamped<to>(std::trunc(x)); }     \
  inline to __##prefix##2##word##_rd(from x) { return ktune_cpu::clamped<to>(std::floor(x)); }     \
  inline to __##prefix##2##word##_ru(from x) { return ktune_cpu::clamped<to>(std::ceil(x)); }
KTUNE_CPU_CONVERT(float, float, int, int)
KTUNE_CPU_CONVERT(float, float, uint, unsigned)
KTUNE_CPU_CONVERT(float, float, ll, long long)
KTUNE_CPU_CONVERT(float, float, ull, unsigned long long)
KTUNE_CPU_CONVERT(double, double, int, int)
KTUNE_CPU_CONVERT(double, double, uint, unsigned)
KTUNE_CPU_CONVERT(double, double, ll, long long)
KTUNE_CPU_CONVERT(double, double, ull, unsigned long long)
#undef KTUNE_CPU_CONVERT
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

// CUDA's min and max take mixed integers as C does, and drop a NaN as fmin and fmax do.
#define KTUNE_CPU_MINMAX(type)                              \
  inline type min(type x, type y) { return y < x ? y : x; } \
  inline type max(type x, type y) { return x < y ? y : x; }
KTUNE_CPU_MINMAX(int)
KTUNE_CPU_MINMAX(unsigned)
KTUNE_CPU_MINMAX(long)
KTUNE_CPU_MINMAX(unsigned long)
KTUNE_CPU_MINMAX(long long)
KTUNE_CPU_MINMAX(unsigned long long)
#undef KTUNE_CPU_MINMAX
#define KTUNE_CPU_MIXED(a, b, to)                                                 \
  inline to min(a x, b y) { return min(static_cast<to>(x), static_cast<to>(y)); } \
  inline to min(b x, a y) { return min(static_cast<to>(x), static_cast<to>(y)); } \
  inline to max(a x, b y) { return max(static_cast<to>(x), static_cast<to>(y)); } \
  inline to max(b x, a y) { return max(static_cast<to>(x), static_cast<to>(y)); }
inline float min(float x, float y) { return fminf(x, y); }
inline float max(float x, float y) { return fmaxf(x, y); }
inline double min(double x, double y) { return fmin(x, y); }
inline double max(double x, double y) { return fmax(x, y); }
KTUNE_CPU_MIXED(int, unsigned, unsigned)
KTUNE_CPU_MIXED(int, long, long)
KTUNE_CPU_MIXED(int, long long, long long)
KTUNE_CPU_MIXED(long, long long, long long)
KTUNE_CPU_MIXED(long long, unsigned long long, unsigned long long)
KTUNE_CPU_MIXED(float, double, double)
#undef KTUNE_CPU_MIXED
KTUNE_CPU_BINARY(umin, unsigned, min(x, y))
KTUNE_CPU_BINARY(umax, unsigned, max(x, y))

inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= ((x >> i) & 1u) << (31 - i);
  return reversed;
}
inline unsigned long long __brevll(unsigned long long x) {
  return (static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32) |
         __brev(static_cast<unsigned>(x >> 32));
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = (static_cast<unsigned long long>(y) << 32) | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned pick = (selector >> (4 * i)) & 0xfu;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (pick & 7u))) & 0xffu;
    if ((pick & 8u) != 0) byte = (byte & 0x80u) != 0 ? 0xffu : 0u;  // replicates the sign
    result |= byte << (8 * i);
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((((static_cast<unsigned long long>(high) << 32) | low) << (shift & 31u)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32) | low) >> (shift & 31u));
}
inline int __mulhi(int x, int y) { return static_cast<int>((static_cast<long long>(x) * y) >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) * y) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(x) * y) >> 64);
}
inline long long __mul64hi(long long x, long long y) {
  return static_cast<long long>((static_cast<__int128>(x) * y) >> 64);
}
inline int __mul24(int x, int y) {
  const auto low = [](int v) { return static_cast<int>(static_cast<unsigned>(v) << 8) >> 8; };
  return static_cast<int>(static_cast<long long>(low(x)) * low(y));
}
inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }
inline int __dp4a(int x, int y, int sum) {
  for (int i = 0; i < 4; ++i) {
    sum += static_cast<signed char>(x >> (8 * i)) * static_cast<signed char>(y >> (8 * i));
  }
  return sum;
}

#undef KTUNE_CPU_UNARY
#undef KTUNE_CPU_BINARY
#undef KTUNE_CPU_TERNARY
