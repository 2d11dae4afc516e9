#pragma once

#include <memory>
#include <string>
#include <vector>

#include "search/search.h"
#include "sweep/compile_ahead.h"
#include "sweep/context.h"
#include "sweep/finals_cost.h"
#include "sweep/heat.h"
#include "sweep/policy.h"
#include "sweep/recipes.h"
#include "sweep/sampler.h"
#include "sweep/timer_decision.h"
#include "sweep/trial_book.h"

// One problem's way: the strategy names variants, their compiles run ahead, the heat measures them in turn, the finals
// name the winner.

namespace ktune::sweep {

/// What became of a problem.
struct ProblemResult {
  model::ProblemRecord record;
  std::int64_t trials_run = 0;
  std::string failure;         ///< why the reference could not be computed; "" when it could
  bool out_of_budget = false;  ///< the exploration was ended to leave time for the finals
};

class Exploration {
 public:
  /// `record` is in the ledger already.
  Exploration(const Context& context, const PreparedProblem& prepared, model::ProblemRecord record, Place place,
              std::unique_ptr<search::Strategy> strategy);

  /// Tries every variant that the strategy names, the default first, until the budget leaves only what the finals need;
  /// then times the finalists again. Throws Error(kEnvironment) when the device is lost; the ledger then holds what was
  /// done.
  ProblemResult run();

 private:
  void explore();
  void feed();
  void admit();
  bool stops();

  const Context& context_;
  MeasurePolicy policy_;
  Recipes recipes_;
  TimerDecision timer_;
  std::unique_ptr<search::Strategy> strategy_;
  TrialBook book_;
  CompileAhead compiles_;
  FinalsCost finals_cost_;
  Sampler sampler_;
  Heat heat_;
  bool exhausted_ = false;
  bool out_of_budget_ = false;
};

/// Every problem in turn. All are recorded before the first is tried, so that one that is never reached is in the
/// ledger, not visited. The budget is shared as budget.h says.
Summary sweep_problems(const Context& context, const std::vector<SharedProblem>& problems);

}  // namespace ktune::sweep
