#pragma once

#include <optional>
#include <string>

#include "model/outcome.h"
#include "sweep/context.h"
#include "sweep/recipes.h"

// `--timer auto` decides once a problem, from its default variant timed by events, for every variant of it: times of
// two timers are not compared. A default that is re-used decides by what was decided when it was measured. Until the
// decision nothing is looked up in the ledger, since what may be re-used depends on it; compiles run ahead.

namespace ktune::sweep {

/// What `auto` decided for this problem when its default was last measured with nothing changed since.
std::optional<model::Timer> timer_decided_before(const Recipes& recipes, Ledger& ledger);

/// The timer of one problem.
class TimerDecision {
 public:
  /// Decides without measuring where that can be done.
  TimerDecision(const Context& context, const Recipes& recipes);

  bool is_made() const { return made_; }
  /// Measures the default, where it was compiled, loaded and verified, and decides. The reference must be set.
  void make(const model::Result<model::KernelBinary>& compiled_default);

  /// What to ask the bench for, once the decision is made.
  const model::TimerRequest& timer() const { return timer_; }
  /// What the problem's record names: the timer `auto` stands for, "" before that is known or where one was named.
  const std::string& recorded() const { return recorded_; }
  /// A trial was timed by this one: what `auto` stands for where it has nothing to decide.
  void note(model::Timer timer);

 private:
  void decide(model::Timer timer, const std::string& why);

  const Context& context_;
  const Recipes& recipes_;
  model::TimerRequest timer_;
  std::string recorded_;
  bool made_ = false;
};

}  // namespace ktune::sweep
