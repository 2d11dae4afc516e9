#include "search/strategies.h"

namespace ktune::search {

std::vector<VariantId> default_first(const space::Space& space, VariantId default_id) {
  const VariantId size = space.size();
  std::vector<VariantId> order;
  order.reserve(static_cast<std::size_t>(size));
  if (default_id >= 0 && default_id < size) order.push_back(default_id);
  for (VariantId id = 0; id < size; ++id) {
    if (id != default_id) order.push_back(id);
  }
  return order;
}

std::unique_ptr<Strategy> make_exhaustive(const space::Space& space, VariantId default_id, std::uint64_t /*seed*/) {
  return std::make_unique<FixedOrder>(default_first(space, default_id));
}

}  // namespace ktune::search
