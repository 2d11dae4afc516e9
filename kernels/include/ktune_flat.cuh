#pragma once

#include "ktune_memory.cuh"

// A flat array cut into tiles of TILE elements, one tile a turn of a block: a thread's vectors are a block's width
// apart, so that neighbouring threads touch neighbouring addresses, and all of them are on their way before the first
// is used. Only the array's last tile checks where the array ends; the elements past its last whole vector are moved
// one by one.

namespace ktune_kernel {

struct FlatVector {
  long long first;  // element
  bool whole;       // known to end inside the array
};

/// Calls body(tile, whole) for each tile of this block, and rest(element) for the elements past the array's last whole
/// vector. `whole` is a constant in both of body's calls: once they are inlined, the common one has no checks in it.
template <long long TILE, int VEC, class Body, class Rest>
KTUNE_INLINE void for_each_tile(long long n, Body body, Rest rest) {
  const long long whole_tiles = n / TILE;
  long long tile = blockIdx.x;
  for (; tile < whole_tiles; tile += gridDim.x) body(tile, true);
  if (tile == whole_tiles && n % TILE != 0) {
    body(tile, false);
    if (VEC > 1 && threadIdx.x < n % VEC) rest(n / VEC * VEC + threadIdx.x);
  }
}

/// Zero for a vector that is not whole.
template <class E, int VEC, LoadHint HINT>
KTUNE_INLINE Words<VEC* static_cast<int>(sizeof(E))> load_flat(const E* x, FlatVector at, long long step, long long n) {
  constexpr int kBytes = VEC * static_cast<int>(sizeof(E));
  if (at.whole || at.first + VEC <= n) return load_words<kBytes, HINT>(x + (VEC == 1 ? at.first * step : at.first));
  return zero_words<kBytes>();
}

/// Nothing for a vector that is not whole.
template <class E, int VEC, StoreHint HINT>
KTUNE_INLINE void store_flat(E* y, FlatVector at, long long step, long long n,
                             const Words<VEC* static_cast<int>(sizeof(E))>& words) {
  constexpr int kBytes = VEC * static_cast<int>(sizeof(E));
  if (at.whole || at.first + VEC <= n) {
    store_words<kBytes, HINT>(y + (VEC == 1 ? at.first * step : at.first), words);
  }
}

}  // namespace ktune_kernel
