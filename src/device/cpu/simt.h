#pragma once

// The host's meaning of the CUDA words a kernel uses. A kernel's text is compiled unmodified after this header, inside
// a namespace of its own, so nothing here may need a change in it.
//
// Blocks run on OS threads, the threads of a block as fibers on one of them: a barrier or a warp operation is a call
// into ktune's runtime, which switches to another fiber. Everything else is plain C++.
//
// Not here on purpose, so that a kernel that needs it fails to compile with its name: inline PTX, generic-to-shared
// conversion, cooperative groups, pipelines, tensor-core operations. Put PTX in kernels/include, each piece with a
// host twin under KTUNE_CPU.

#define KTUNE_CPU 1

// Standard headers come first and are complete: inside the kernel's namespace their #includes must be empty, and
// CUDA's headers define words (`__noinline__`) that libstdc++ uses as attributes.
#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "simt_abi.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector_functions.h>
#include <vector_types.h>

#undef __global__
#undef __device__
#undef __host__
#undef __constant__
#undef __shared__
#undef __managed__
#undef __grid_constant__
#undef __launch_bounds__
#undef __cluster_dims__
#undef __maxnreg__
#undef __noinline__
#undef __forceinline__
#undef __align__
#undef assert
#define __noinline__ __attribute__((noinline))
#define __forceinline__ __attribute__((always_inline))  // not `inline` too: a kernel may say both
#define __align__(n) __attribute__((aligned(n)))
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
// A static shared array is one object an OS thread, since a block never leaves its own. AddressSanitizer does not see
// thread-local arrays: a sanitized build runs one OS thread and makes them plain statics.
#ifdef KTUNE_CPU_SANITIZE
#define __shared__ static
#else
#define __shared__ thread_local
#endif

constexpr int warpSize = 32;

#define threadIdx (reinterpret_cast<const uint3&>(ktune_cpu_self->thread_idx))
#define blockIdx (reinterpret_cast<const uint3&>(ktune_cpu_self->block->block_idx))
#define blockDim (reinterpret_cast<const dim3&>(ktune_cpu_self->block->block_dim))
#define gridDim (reinterpret_cast<const dim3&>(ktune_cpu_self->block->grid_dim))

// A kernel that prints must not write into the worker's answers.
#define printf(...) std::fprintf(stderr, __VA_ARGS__)
#define assert(condition) \
  ((condition) ? void() : ktune_cpu_fault("assertion failed: " #condition, {"assert", __FILE__, __LINE__}))
#define __trap() ktune_cpu_fault("trap", {"__trap", __FILE__, __LINE__})

namespace ktune_cpu {

/// What `extern __shared__ T name[]` is rewritten to take: converts to any pointer.
struct DynamicShared {
  template <class T>
  operator T*() const {
    return reinterpret_cast<T*>(ktune_cpu_dynamic_shared);
  }
};

template <class P>
constexpr Parameter parameter_of() {
  return {static_cast<int>(sizeof(P)), std::is_pointer_v<P>                         ? kPointer
                                       : std::is_integral_v<P> || std::is_enum_v<P> ? kInteger
                                       : std::is_floating_point_v<P>                ? kReal
                                                                                    : kOther};
}

/// Calls a kernel with arguments given as bytes. An argument may be longer than its parameter (a 64-bit integer for an
/// int): the machine is little-endian.
template <auto Kernel>
struct Exported;
template <class... P, void (*Kernel)(P...)>
struct Exported<Kernel> {
  static constexpr Parameter parameters[sizeof...(P) + 1] = {parameter_of<P>()..., Parameter{0, kOther}};

  template <class Q>
  static Q read(const void* bytes) {
    std::remove_cv_t<Q> value;
    std::memcpy(static_cast<void*>(&value), bytes, sizeof value);
    return value;
  }
  template <std::size_t... I>
  static void call(const void* const* args, std::index_sequence<I...>) {
    Kernel(read<P>(args[I])...);
  }
  static void run(const void* const* args) { call(args, std::index_sequence_for<P...>{}); }
  static constexpr Entry entry(const char* name) { return {name, &run, parameters, static_cast<int>(sizeof...(P))}; }
};

/// Any value of at most eight bytes as the bits a warp operation carries, and back.
template <class T>
inline unsigned long long to_bits(const T& value) {
  static_assert(sizeof(T) <= 8, "a warp operation carries at most eight bytes");
  unsigned long long bits = 0;
  std::memcpy(&bits, static_cast<const void*>(&value), sizeof value);
  return bits;
}
template <class T>
inline T from_bits(unsigned long long bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}

}  // namespace ktune_cpu

// Each uses the ones before it.
// clang-format off
#include "simt_checks.h"
#include "simt_warp.h"
#include "simt_math.h"
#include "simt_memory.h"
#include "simt_half.h"
// clang-format on
