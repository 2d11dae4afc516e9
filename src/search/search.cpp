#include "search/search.h"

#include "base/error.h"
#include "base/text.h"
#include "search/strategies.h"

namespace ktune::search {

const std::vector<StrategyInfo>& strategies() {
  static const std::vector<StrategyInfo> table{
      {"exhaustive", "every variant, the default first, then in the space's order", make_exhaustive},
      {"random", "every variant, the default first, then shuffled from a seed", make_random},
      {"reverse", "every variant, the default first, then last to first: does the winner depend on the order?",
       make_reverse},
  };
  return table;
}

std::unique_ptr<Strategy> make_strategy(std::string_view name, const space::Space& space, VariantId default_id,
                                        std::uint64_t seed) {
  std::vector<std::string> known;
  for (const StrategyInfo& row : strategies()) {
    if (row.name == name) return row.make(space, default_id, seed);
    known.emplace_back(row.name);
  }
  throw Error(ErrorKind::kUsage, "unknown strategy '" + std::string(name) + "'" + did_you_mean(name, known),
              "strategies: " + join(known, ", "));
}

}  // namespace ktune::search
