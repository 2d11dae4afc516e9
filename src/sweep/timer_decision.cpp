#include "sweep/timer_decision.h"

#include <fmt/format.h>

#include "sweep/timer.h"
#include "trial/build.h"
#include "trial/trial.h"

namespace ktune::sweep {

std::optional<model::Timer> timer_decided_before(const Recipes& recipes, Ledger& ledger) {
  std::optional<model::Timer> newest;
  std::string date;
  for (const model::Timer timer : model::auto_timers(recipes.facts().kind)) {
    const auto found = ledger.find_trial(trial::fingerprint(recipes.parts(recipes.prepared().default_id, timer)));
    if (!found || found->date < date) continue;
    newest = timer;
    date = found->date;
  }
  return newest;
}

TimerDecision::TimerDecision(const Context& context, const Recipes& recipes) : context_(context), recipes_(recipes) {
  if (!auto_decides(context.facts, context.options)) {
    timer_ = context.options.timer;
    made_ = true;
  } else if (context.options.reuse) {
    if (const auto before = timer_decided_before(recipes, context.ledger))
      decide(*before, "as decided when its default was measured");
  }
}

void TimerDecision::make(const model::Result<model::KernelBinary>& compiled_default) {
  const model::Timer first = model::auto_timers(context_.facts.kind).front();
  if (!compiled_default) return decide(first, "the default did not compile");
  const search::VariantId id = recipes_.prepared().default_id;
  const auto plan = recipes_.plan(id);
  if (!plan) return decide(first, "the default cannot be timed: " + plan.error().reason);
  model::TrialRecord scratch;
  if (!trial::load_and_verify(context_.bench, id, *plan, *compiled_default, scratch))
    return decide(first, "the default cannot be timed: " + scratch.reason);
  const auto choice = choose_timer(context_.bench, id, context_.facts, context_.options.cache_state);
  if (choice)
    decide(choice->timer, choice->why);
  else
    decide(first, "the default cannot be timed: " + choice.error().reason);
  context_.bench.unload(id);
}

void TimerDecision::note(model::Timer timer) {
  if (context_.options.timer.is_auto() && recorded_.empty()) recorded_ = name_of(timer);
}

void TimerDecision::decide(model::Timer timer, const std::string& why) {
  timer_ = timer;
  recorded_ = name_of(timer);
  made_ = true;
  const PreparedProblem& prepared = recipes_.prepared();
  context_.say(fmt::format("{} {}: timed by {} ({})", prepared.spec->name, prepared.problem.text(), recorded_, why));
}

}  // namespace ktune::sweep
