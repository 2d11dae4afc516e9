#pragma once

#include <memory>
#include <vector>

#include "search/search.h"

// One maker a strategy, declared from the rows of strategies.def. A default_id below 0 means that the default is not in
// the space (a narrowed one).

namespace ktune::search {

#define KTUNE_STRATEGY(name, summary) \
  std::unique_ptr<Strategy> make_##name(const space::Space& space, VariantId default_id, std::uint64_t seed);
#include "search/strategies.def"

/// A strategy that is a fixed order and learns nothing.
class FixedOrder : public Strategy {
 public:
  explicit FixedOrder(std::vector<VariantId> order) : order_(std::move(order)) {}

  std::optional<VariantId> next() override {
    if (at_ == order_.size()) return std::nullopt;
    return order_[at_++];
  }
  void tell(VariantId /*id*/, model::Outcome /*outcome*/, double /*time_us*/) override {}

 private:
  std::vector<VariantId> order_;
  std::size_t at_ = 0;
};

/// Every variant in order, the default first.
std::vector<VariantId> default_first(const space::Space& space, VariantId default_id);

}  // namespace ktune::search
