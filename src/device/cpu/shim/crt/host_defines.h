#pragma once

// CUDA's element-type headers include this one; the wheels that carry them may not. On the host its words mean nothing,
// and simt.h gives those of a kernel their meaning afterwards. Used only where CUDA's own is not found.

#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __grid_constant__
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __specialization_static
#define CUDARTAPI
#define CUDARTAPI_CDECL
