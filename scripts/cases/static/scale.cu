// y = 3x
#ifdef KTUNE_REFERENCE
extern "C" __global__ void scale_reference(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 3.f * x[i];
}
#else
using Piece = float4;
__device__ Piece tripled(Piece p) { return make_float4(3.f * p.x, 3.f * p.y, 3.f * p.z, 3.f * p.w); }

extern "C" __global__ void __launch_bounds__(32 * num_warps) scale(const Piece* x, Piece* y, int n) {
  constexpr int kPiece = sizeof(Piece) / sizeof(float);
  const int pieces = n / kPiece, step = gridDim.x * blockDim.x;
  Piece held[8];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pieces; i += 8 * step) {
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (i + j * step < pieces) held[j] = x[i + j * step];
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (i + j * step < pieces) y[i + j * step] = tripled(held[j]);
  }
}
#endif
