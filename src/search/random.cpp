#include <random>
#include <utility>

#include "search/strategies.h"

namespace ktune::search {

// The shuffle is written out: std::shuffle may differ between standard libraries, and a seed must mean the same order
// everywhere.
std::unique_ptr<Strategy> make_random(const space::Space& space, VariantId default_id, std::uint64_t seed) {
  std::vector<VariantId> order = default_first(space, default_id);
  std::mt19937_64 random(seed);
  const std::size_t fixed = default_id >= 0 && default_id < static_cast<VariantId>(order.size()) ? 1 : 0;
  for (std::size_t i = order.size(); i > fixed + 1; --i) {
    std::swap(order[i - 1], order[fixed + random() % (i - fixed)]);
  }
  return std::make_unique<FixedOrder>(std::move(order));
}

}  // namespace ktune::search
