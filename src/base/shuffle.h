#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>

namespace ktune {

/// Puts the items into an order that the seed chooses. Written out, since std::shuffle may differ between standard
/// libraries: a seed must mean the same order everywhere.
template <typename T>
void shuffle(std::span<T> items, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random() % i]);
}

}  // namespace ktune
