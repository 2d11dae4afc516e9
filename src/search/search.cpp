#include "search/search.h"

#include "base/named.h"
#include "search/strategies.h"

namespace ktune::search {

const std::vector<StrategyInfo>& strategies() {
  static const std::vector<StrategyInfo> table{
#define KTUNE_STRATEGY(name, summary) {#name, summary, make_##name},
#include "search/strategies.def"
  };
  return table;
}

std::unique_ptr<Strategy> make_strategy(std::string_view name, const space::Space& space, VariantId default_id,
                                        std::uint64_t seed) {
  return find_named(strategies(), name, "strategy", "strategies").make(space, default_id, seed);
}

}  // namespace ktune::search
