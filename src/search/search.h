#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/op_spec.h"
#include "model/outcome.h"
#include "space/space.h"

namespace ktune::search {

/// A variant's number in its Space.
using VariantId = std::int64_t;

/// Which variant next. One instance a problem.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// The next variant to try; nothing when done (or when it wants to hear of outstanding ones first and there are
  /// some). Never the same twice.
  virtual std::optional<VariantId> next() = 0;
  /// What became of one, and of the default; time_us only for Measured.
  virtual void tell(VariantId id, model::Outcome outcome, double time_us) = 0;
};

/// A row of the table that drives --strategy, its help and its tests.
struct StrategyInfo {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Strategy> (*make)(const space::Space& space, VariantId default_id, std::uint64_t seed);
};
const std::vector<StrategyInfo>& strategies();
/// Throws Error(kUsage) for an unknown name ("did you mean").
std::unique_ptr<Strategy> make_strategy(std::string_view name, const space::Space& space, VariantId default_id,
                                        std::uint64_t seed);

}  // namespace ktune::search
