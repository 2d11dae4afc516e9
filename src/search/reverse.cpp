#include <algorithm>

#include "search/strategies.h"

namespace ktune::search {

/// The opposite of exhaustive: a winner that depends on the order is not a winner.
std::unique_ptr<Strategy> make_reverse(const space::Space& space, VariantId default_id, std::uint64_t /*seed*/) {
  std::vector<VariantId> order = default_first(space, default_id);
  std::reverse(order.begin(), order.end());
  return std::make_unique<FixedOrder>(std::move(order));
}

}  // namespace ktune::search
