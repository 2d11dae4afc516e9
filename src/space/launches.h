#pragma once

#include <optional>
#include <vector>

#include "model/facts.h"
#include "model/limits.h"
#include "space/condition.h"

namespace ktune::space {

/// What the launches of a choice ask of a device.
class Launches {
 public:
  Launches(const model::OpSpec& spec, const std::vector<Axis>& axes, const expr::Scope& problem,
           const model::DeviceFacts& device);

  /// The first limit that a launch of the choice breaks.
  std::optional<model::LimitBreach> breach(const Choice& choice);

 private:
  struct Launch {
    std::optional<Condition> when;
    std::vector<Quantity> grid, block, cluster;
    std::optional<Quantity> smem;
  };

  std::vector<Launch> launches_;
  model::DeviceFacts device_;
  model::LaunchPlan plan_;  ///< of the launch at hand: made once
};

}  // namespace ktune::space
