#pragma once

#include "ktune_memory.cuh"

// Vectors of VEC columns out of a row of COLUMNS columns. The last vector of a row may be part of one: its elements are
// moved one by one, so nothing past the row is touched, whatever COLUMNS is. Vectors past the row read as zero.
//
// A vector of more than one element needs neighbouring columns. With VEC = 1 the columns may be any distance apart.
//
// `at` is the vector's address and `column` its place in the row: two things, so that a thread keeps one address a row
// and the distance to its other vectors is a constant in the instruction.

namespace ktune_kernel {

/// One element, as what sums are made in.
template <class E>
KTUNE_INLINE acc_t<E> load_element(const E* at) {
  acc_t<E> value[1];
  Element<E>::template unpack<1>(load_words<static_cast<int>(sizeof(E))>(at), value);
  return value[0];
}

/// `whole` says that the caller knows the vector to lie inside the row; then nothing is checked.
template <class E, int VEC, int COLUMNS, LoadHint HINT = kLoadCached>
KTUNE_INLINE Words<VEC* static_cast<int>(sizeof(E))> load_columns(const E* at, int column, bool whole) {
  constexpr int kBytes = VEC * static_cast<int>(sizeof(E));
  if constexpr (VEC == 1) {
    if (whole || column < COLUMNS) return load_words<kBytes, HINT>(at);
  } else {
    if (whole || column + VEC <= COLUMNS) return load_words<kBytes, HINT>(at);
    if constexpr (COLUMNS % VEC != 0) {
      if (column < COLUMNS) {
        acc_t<E> value[VEC];
#pragma unroll
        for (int i = 0; i < VEC; ++i) value[i] = i < COLUMNS % VEC ? load_element(at + i) : acc_t<E>(0);
        return Element<E>::template pack<VEC>(value);
      }
    }
  }
  return zero_words<kBytes>();
}

template <class E, int VEC, int COLUMNS, StoreHint HINT = kStoreCached>
KTUNE_INLINE void store_columns(E* at, int column, const acc_t<E> (&value)[VEC], bool whole) {
  constexpr int kBytes = VEC * static_cast<int>(sizeof(E));
  if constexpr (VEC == 1) {
    if (whole || column < COLUMNS) store_words<kBytes, HINT>(at, Element<E>::template pack<1>(value));
  } else {
    if (whole || column + VEC <= COLUMNS) {
      store_words<kBytes, HINT>(at, Element<E>::template pack<VEC>(value));
    } else if constexpr (COLUMNS % VEC != 0) {
#pragma unroll
      for (int i = 0; i < COLUMNS % VEC; ++i) {
        const acc_t<E> one[1] = {value[i]};
        if (column < COLUMNS) store_words<sizeof(E), HINT>(at + i, Element<E>::template pack<1>(one));
      }
    }
  }
}

}  // namespace ktune_kernel
