#pragma once

// Functions of half and bfloat16 that CUDA's headers give to the device only. Each goes through f32, whose rounding to
// 16 bits is the device's too: fma of two 11-bit significands and a sum is exact to the last f32 bit or so, and the
// device's transcendental functions are themselves f32 ones rounded.

#define KTUNE_CPU_HALF_UNARY(name, expression) \
  inline __half name(__half h) {               \
    const float x = __half2float(h);           \
    return __float2half_rn(expression);        \
  }                                            \
  inline __nv_bfloat16 name(__nv_bfloat16 h) { \
    const float x = __bfloat162float(h);       \
    return __float2bfloat16_rn(expression);    \
  }
#define KTUNE_CPU_HALF2_UNARY(name, single)                                                                \
  inline __half2 name(__half2 h) { return __halves2half2(single(__low2half(h)), single(__high2half(h))); } \
  inline __nv_bfloat162 name(__nv_bfloat162 h) {                                                           \
    return __halves2bfloat162(single(__low2bfloat16(h)), single(__high2bfloat16(h)));                      \
  }
#define KTUNE_CPU_HALF(stem, expression)    \
  KTUNE_CPU_HALF_UNARY(h##stem, expression) \
  KTUNE_CPU_HALF2_UNARY(h2##stem, h##stem)
KTUNE_CPU_HALF(sqrt, sqrtf(x))
KTUNE_CPU_HALF(rsqrt, 1.0f / sqrtf(x))
KTUNE_CPU_HALF(rcp, 1.0f / x)
KTUNE_CPU_HALF(exp, expf(x))
KTUNE_CPU_HALF(exp2, exp2f(x))
KTUNE_CPU_HALF(exp10, powf(10.0f, x))
KTUNE_CPU_HALF(log, logf(x))
KTUNE_CPU_HALF(log2, log2f(x))
KTUNE_CPU_HALF(log10, log10f(x))
KTUNE_CPU_HALF(sin, sinf(x))
KTUNE_CPU_HALF(cos, cosf(x))
KTUNE_CPU_HALF(tanh, tanhf(x))
KTUNE_CPU_HALF(tanh_approx, tanhf(x))
KTUNE_CPU_HALF(trunc, truncf(x))
KTUNE_CPU_HALF(floor, floorf(x))
KTUNE_CPU_HALF(ceil, ceilf(x))
KTUNE_CPU_HALF(rint, nearbyintf(x))
#undef KTUNE_CPU_HALF
#undef KTUNE_CPU_HALF2_UNARY
#undef KTUNE_CPU_HALF_UNARY

// The product of two halves is exact in f64, and so is the sum but for one rounding far below half's last bit.
inline __half __hfma(__half a, __half b, __half c) {
  return __double2half(fma(static_cast<double>(__half2float(a)), static_cast<double>(__half2float(b)),
                           static_cast<double>(__half2float(c))));
}
inline __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  return __double2bfloat16(fma(static_cast<double>(__bfloat162float(a)), static_cast<double>(__bfloat162float(b)),
                               static_cast<double>(__bfloat162float(c))));
}
inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return __halves2half2(__hfma(__low2half(a), __low2half(b), __low2half(c)),
                        __hfma(__high2half(a), __high2half(b), __high2half(c)));
}
inline __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return __halves2bfloat162(__hfma(__low2bfloat16(a), __low2bfloat16(b), __low2bfloat16(c)),
                            __hfma(__high2bfloat16(a), __high2bfloat16(b), __high2bfloat16(c)));
}

#define KTUNE_CPU_HALF_CONVERT(word, type)                                                                   \
  inline type __half2##word##_rn(__half h) { return ktune_cpu::clamped<type>(nearbyintf(__half2float(h))); } \
  inline type __half2##word##_rd(__half h) { return ktune_cpu::clamped<type>(floorf(__half2float(h))); }     \
  inline type __half2##word##_ru(__half h) { return ktune_cpu::clamped<type>(ceilf(__half2float(h))); }
KTUNE_CPU_HALF_CONVERT(int, int)
KTUNE_CPU_HALF_CONVERT(uint, unsigned)
KTUNE_CPU_HALF_CONVERT(ll, long long)
#undef KTUNE_CPU_HALF_CONVERT
