#include <span>
#include <utility>

#include "base/shuffle.h"
#include "search/strategies.h"

namespace ktune::search {

std::unique_ptr<Strategy> make_random(const space::Space& space, VariantId default_id, std::uint64_t seed) {
  std::vector<VariantId> order = default_first(space, default_id);
  const std::size_t fixed = default_id >= 0 && default_id < static_cast<VariantId>(order.size()) ? 1 : 0;
  shuffle(std::span(order).subspan(fixed), seed);
  return std::make_unique<FixedOrder>(std::move(order));
}

}  // namespace ktune::search
