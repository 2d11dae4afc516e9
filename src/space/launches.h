#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/facts.h"
#include "model/limits.h"
#include "space/condition.h"

namespace ktune::space {

/// What variants are made for.
struct Target {
  model::Problem problem;
  model::DeviceFacts device;
};

/// The launches of a choice: whether they can be made, and whether the device can run them.
class Launches {
 public:
  Launches(const model::OpSpec& spec, const std::vector<Axis>& axes, const expr::Scope& scope, Target target);

  /// Why the choice cannot be launched: an expression of its launches without a value that fits, or the first limit of
  /// the device that it breaks. It is the same text for every choice with that fault. Throws Error(kUsage) as
  /// expr::resolve_variant does.
  std::optional<std::string> refusal(const Choice& choice);
  /// Launches of the choice that was asked of last.
  int count() const { return count_; }

 private:
  struct Launch {
    std::optional<Condition> when;
    std::vector<Quantity> grid, block, cluster;
    std::optional<Quantity> smem;
  };

  void bind_arguments();
  /// Why the choice has no plan, or nothing.
  std::optional<std::string> failure(const Choice& choice) const;
  /// The same, remembered by what arguments and scratch use: for a choice whose sizes are known to fit.
  std::optional<std::string> argument_failure(const Choice& choice);
  /// Evaluates the sizes of a launch; false where one has no value or does not fit.
  bool set_sizes(Launch& launch, const Choice& choice);

  model::OpSpec spec_;
  std::vector<Axis> axes_;
  expr::Scope scope_;
  Target target_;
  std::vector<Launch> launches_;
  std::optional<Binding> arguments_;   ///< what arguments and scratch tensors use
  std::vector<std::uint8_t> checked_;  ///< by the combinations of that; empty when they are too many
  model::LaunchPlan plan_;             ///< of the launch at hand: made once
  int count_ = 0;
};

}  // namespace ktune::space
