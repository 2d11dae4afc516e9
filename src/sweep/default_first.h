#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "search/search.h"

namespace ktune::sweep {

/// A strategy's order with the default before everything, since every speed-up is over it. The strategy need not name
/// the default; where it does, it is not tried twice. The strategy is told of the default either way.
class DefaultFirst : public search::Strategy {
 public:
  DefaultFirst(std::unique_ptr<search::Strategy> strategy, search::VariantId default_id)
      : strategy_(std::move(strategy)), default_id_(default_id) {}

  std::optional<search::VariantId> next() override {
    if (!std::exchange(begun_, true)) return default_id_;
    auto id = strategy_->next();
    return id == default_id_ ? strategy_->next() : id;
  }
  void tell(search::VariantId id, model::Outcome outcome, double time_us) override {
    strategy_->tell(id, outcome, time_us);
  }

 private:
  std::unique_ptr<search::Strategy> strategy_;
  search::VariantId default_id_;
  bool begun_ = false;
};

}  // namespace ktune::sweep
