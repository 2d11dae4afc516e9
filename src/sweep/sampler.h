#pragma once

#include "measure/measure.h"
#include "model/record.h"
#include "search/search.h"
#include "sweep/context.h"
#include "sweep/finals_cost.h"
#include "sweep/recipes.h"
#include "sweep/timer_decision.h"

namespace ktune::sweep {

/// Samples variants on the bench, and keeps account of what that costs. A variant that the bench has lost, because
/// another took its worker down, is loaded and verified again before it is sampled.
class Sampler {
 public:
  Sampler(const Context& context, const Recipes& recipes, const TimerDecision& timer, FinalsCost& cost)
      : context_(context), recipes_(recipes), timer_(timer), cost_(cost) {}

  /// Loads a variant and verifies it; false: the record says why not.
  bool load(search::VariantId id, const model::KernelBinary& binary, model::TrialRecord& record);
  /// Takes so many samples. A failure unloads the variant, and is in the record too.
  model::Result<measure::Measurement> sample(search::VariantId id, const model::KernelBinary& binary, int samples,
                                             model::TrialRecord& record);
  void unload(search::VariantId id) { context_.bench.unload(id); }

 private:
  const Context& context_;
  const Recipes& recipes_;
  const TimerDecision& timer_;
  FinalsCost& cost_;
};

}  // namespace ktune::sweep
