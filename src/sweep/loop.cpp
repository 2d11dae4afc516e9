#include "sweep/loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "sweep/default_first.h"
#include "sweep/finals.h"

namespace ktune::sweep {

namespace {

/// A wait for a compile that Ctrl-C may have to end.
constexpr double kLookS = 0.1;

}  // namespace

Exploration::Exploration(const Context& context, const PreparedProblem& prepared, model::ProblemRecord record,
                         Place place, std::unique_ptr<search::Strategy> strategy)
    : context_(context),
      policy_(measure_policy(context.facts, context.options)),
      recipes_(prepared, context.facts, context.options, context.compile_key),
      timer_(context, recipes_),
      strategy_(std::make_unique<DefaultFirst>(std::move(strategy), prepared.default_id)),
      book_(context, recipes_, timer_, *strategy_, std::move(record), place),
      compiles_(context, recipes_),
      sampler_(context, recipes_, timer_, finals_cost_),
      heat_(context, sampler_, book_, policy_.race) {}

ProblemResult Exploration::run() {
  try {
    explore();
    if (compiles_.failure().empty() && !context_.interrupted())
      Finals(context_, recipes_, compiles_, sampler_, book_, policy_).run();
  } catch (const Error& error) {  // Ctrl-C in the middle of a verb, or a lost device: what is in the ledger stays
    book_.settle();
    if (error.kind() != ErrorKind::kInterrupted) throw;
  }
  book_.settle();
  return {book_.record(), book_.trials_run(), compiles_.failure(), out_of_budget_};
}

void Exploration::explore() {
  while (!stops() && compiles_.failure().empty()) {
    feed();
    if (exhausted_) break;
    const bool waits = !compiles_.reference_is_set() || (heat_.is_empty() && compiles_.peek() == nullptr);
    compiles_.take(waits ? kLookS : 0.0);
    book_.report_progress();
    if (!compiles_.reference_is_set()) continue;
    if (const Compiled* first = compiles_.peek(); first != nullptr && !timer_.is_made()) timer_.make(first->binary);
    admit();
    heat_.run_round([this] {
      compiles_.take(0.0);
      feed();
      return !stops();
    });
  }
  heat_.stop();
}

/// Asks the strategy for variants until enough compiles are queued.
void Exploration::feed() {
  while (compiles_.wants_more() && !stops()) {
    const auto id = strategy_->next();
    if (!id) {
      exhausted_ = compiles_.is_idle() && heat_.is_empty();
      return;
    }
    const bool look_up = context_.options.reuse && timer_.is_made();
    if (const auto earlier = look_up ? book_.reuse(*id) : std::nullopt)
      heat_.note(*earlier);
    else
      compiles_.ask(*id, look_up);
  }
}

/// Fills the heat with what is compiled.
void Exploration::admit() {
  while (timer_.is_made() && heat_.has_room() && !stops()) {
    auto compiled = compiles_.next();
    if (!compiled) break;
    const bool look_up = context_.options.reuse && !compiled->looked_up;
    if (const auto earlier = look_up ? book_.reuse(compiled->id) : std::nullopt)
      heat_.note(*earlier);
    else
      heat_.enter(std::move(*compiled));
  }
  if (compiles_.peek() == nullptr && !stops()) heat_.enter_postponed();
}

bool Exploration::stops() {
  if (!out_of_budget_) {
    const auto most = static_cast<std::size_t>(policy_.finalists + 2);  // the default and the winner of before
    out_of_budget_ =
        context_.budget.ends_exploration(finals_cost_.expected_s(std::min(book_.measured().size(), most), policy_));
  }
  return out_of_budget_ || context_.interrupted();
}

Summary sweep_problems(const Context& context, const std::vector<SharedProblem>& problems) {
  std::vector<model::ProblemRecord> records;
  for (const SharedProblem& prepared : problems) {
    records.push_back(unvisited_record(*prepared, context.session));
    records.back().source_hash =
        Recipes(*prepared, context.facts, context.options, context.compile_key).reference_key();
    records.back().id = context.ledger.add_problem(records.back(), *prepared->full);
  }
  Summary summary;
  summary.session = context.session;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (context.interrupted() || context.budget.is_used_up()) {
      summary.not_visited += records[i].not_visited;
      summary.out_of_budget = summary.out_of_budget || !context.interrupted();
      continue;
    }
    context.budget.begin_problem(problems.size() - i);
    auto strategy = search::make_strategy(context.options.strategy, problems[i]->space, problems[i]->default_id,
                                          context.options.seed);
    const ProblemResult result =
        Exploration(context, *problems[i], records[i], {i, problems.size()}, std::move(strategy)).run();
    summary.trials += result.trials_run;
    summary.reused += result.record.reused;
    summary.not_visited += result.record.not_visited;
    summary.out_of_budget = summary.out_of_budget || (result.out_of_budget && result.record.not_visited > 0);
    if (!result.failure.empty())
      summary.failed_problems.push_back(
          fmt::format("{} {}: {}", result.record.op, result.record.problem.text(), result.failure));
  }
  summary.interrupted = context.interrupted();
  summary.seconds = context.budget.elapsed_s();
  return summary;
}

}  // namespace ktune::sweep
