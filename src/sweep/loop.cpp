#include "sweep/loop.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/process.h"
#include "base/text.h"
#include "expr/resolve.h"
#include "measure/noise.h"
#include "sweep/source_bundle.h"
#include "trial/build.h"

namespace ktune::sweep {

namespace {

/// Compiles kept ahead of the worker, beyond one a process: enough that no process waits while a trial runs, few
/// enough that an interrupted sweep throws little away.
constexpr int kQueueAhead = 8;

}  // namespace

bool Context::out_of_budget() const { return options.budget_s > 0.0 && now_s() - start_s > options.budget_s; }

void Context::say(const std::string& text) const {
  if (observer.message) observer.message(text);
}

Exploration::Exploration(Context& context, const PreparedProblem& prepared, std::size_t index, std::size_t count)
    : context_(context),
      prepared_(prepared),
      index_(index),
      count_(count),
      policy_(measure_policy(context.facts, context.options)) {
  strategy_ =
      search::make_strategy(context.options.strategy, prepared.space, prepared.default_id, context.options.seed);
  record_.session = context.session;
  record_.op = prepared.spec->name;
  record_.spec_hash = prepared.spec->hash;
  record_.problem = prepared.problem;
  record_.default_variant = prepared.default_variant;
  record_.cost = prepared.cost;
  record_.enumerated = prepared.space.enumerated();
  record_.rejected = prepared.space.rejected();
  record_.not_visited = prepared.space.size() + prepared.space.not_enumerated();
}

bool Exploration::stop() {
  if (!stopped_by_budget_ && context_.out_of_budget()) stopped_by_budget_ = true;
  return interrupted() || stopped_by_budget_;
}

compile::CompileJob Exploration::reference_job() const {
  return trial::reference_job(*prepared_.spec, prepared_.problem, prepared_.default_variant, context_.facts,
                              context_.options.compile_deadline_s);
}

compile::CompileJob Exploration::job_of(search::VariantId id) const {
  return trial::variant_job(*prepared_.spec, prepared_.problem, prepared_.space.variant(id), context_.facts,
                            context_.options.compile_deadline_s);
}

model::VariantPlan Exploration::plan_of(search::VariantId id) const {
  return expr::resolve_variant(*prepared_.spec, prepared_.problem, prepared_.scope, prepared_.space.variant(id));
}

model::ProblemRecord Exploration::run() {
  record_.source_hash = compile::cache_key(reference_job());
  record_.id = context_.store.add_problem(record_);
  context_.store.add_source(record_.spec_hash, record_.source_hash, bundle_of(*prepared_.full));
  try {
    explore();
    if (failure_.empty() && !stop()) time_finalists();
  } catch (const Error& error) {  // Ctrl-C in the middle of a worker's call, or a lost device: what is stored stays
    if (error.kind() != ErrorKind::kInterrupted) {
      settle_counts();
      throw;
    }
  }
  settle_counts();
  return record_;
}

/// Accounts for every variant: what was not tried was not visited.
void Exploration::settle_counts() {
  std::int64_t tried = 0;
  for (const auto& [outcome, count] : outcomes_) tried += count;
  record_.not_visited = prepared_.space.size() - tried + prepared_.space.not_enumerated();
  record_.reused = reused_;
  context_.store.update_problem(record_);
}

void Exploration::explore() {
  prepare_timer();
  while (!stop() && failure_.empty()) {
    const bool fed = feed();
    const bool idle = ready_.empty() && postponed_.empty() && heat_.empty();
    if (idle && compiling_.empty() && !fed) {
      if (exhausted_) break;
      continue;
    }
    take_compiled(idle || !reference_ready_ ? 0.1 : 0.0);
    report_progress(false);
    if (!reference_ready_) continue;
    if (!timer_) decide_timer();
    if (!timer_) continue;
    admit();
    run_round();
  }
  for (Runner& runner : heat_)  // stopped: what has its share of samples is kept, the rest is not visited
    if (runner.series.taken() >= policy_.race.min_samples) finish(runner);
  heat_.clear();
}

/// Asks the strategy for variants until enough compiles are queued. True if anything was done. The reference is
/// compiled once the first variant needs it: a sweep that re-uses everything launches nothing.
bool Exploration::feed() {
  bool any = false;
  const auto want = static_cast<std::size_t>(context_.pool.jobs() + kQueueAhead);
  while (!exhausted_ && compiling_.size() + ready_.size() < want) {
    const auto id = strategy_->next();
    if (!id) {
      exhausted_ = compiling_.empty() && ready_.empty() && postponed_.empty() && heat_.empty();
      break;
    }
    any = true;
    const bool look_up = context_.options.reuse && timer_;
    if (look_up && reuse(*id)) continue;
    if (!reference_ticket_) reference_ticket_ = context_.pool.submit(reference_job());
    compiling_[context_.pool.submit(job_of(*id))] = Ready{*id, {}, look_up};
  }
  return any;
}

void Exploration::take_compiled(double timeout_s) {
  while (auto result = context_.pool.wait(timeout_s)) {
    timeout_s = 0.0;
    if (reference_ticket_ && result->ticket == *reference_ticket_) {
      if (!result->binary) {
        failure_ =
            "the reference did not compile: " + result->binary.error().reason + "\n" + result->binary.error().detail;
      } else if (auto status = context_.worker.set_problem(prepared_.plan, *result->binary); !status) {
        failure_ = "the reference could not be computed: " + status.error().reason + "\n" + status.error().detail;
      } else {
        reference_ready_ = true;
      }
      continue;
    }
    if (default_ticket_ && result->ticket == *default_ticket_) {
      default_binary_ = std::move(result->binary);
      continue;
    }
    const auto at = compiling_.find(result->ticket);
    if (at == compiling_.end()) continue;
    at->second.binary = std::move(result->binary);
    ready_.push_back(std::move(at->second));
    compiling_.erase(at);
  }
}

const std::map<std::string, std::string>& Exploration::parts(search::VariantId id) {
  auto& parts = parts_[id];
  if (parts.empty())
    parts = parts_of(prepared_, context_.facts, context_.options, timer_.value_or(context_.options.timer),
                     prepared_.space.variant(id), compile::cache_key(job_of(id)));
  return parts;
}

bool Exploration::reuse(search::VariantId id) {
  auto found = context_.store.find_trial(trial::fingerprint(parts(id)));
  if (!found) {
    if (context_.options.explain) explain_miss(id, parts(id));
    return false;
  }
  context_.store.link_trial(record_.id, found->id);
  ++outcomes_[found->outcome];
  ++reused_;
  const bool measured = found->outcome == model::Outcome::kMeasured;
  if (measured) {
    const bool inconclusive = measure::is_inconclusive(found->warnings);
    measured_[id] = Candidate{id, found->timing.time_us, inconclusive};
    note_interval(found->timing, inconclusive);
    if (context_.options.timer.is_auto() && record_.timer.empty()) record_.timer = name_of(found->samples.timer);
  }
  strategy_->tell(id, found->outcome, measured ? found->timing.time_us : 0.0);
  return true;
}

void Exploration::explain_miss(search::VariantId id, const std::map<std::string, std::string>& parts) {
  const std::string variant = prepared_.space.variant(id).text();
  const auto earlier = context_.store.nearest_trial(record_.op, record_.problem.text(), variant);
  if (!earlier) {
    context_.say(fmt::format("{}: never measured before", variant));
    return;
  }
  std::vector<std::string> changed;
  for (const auto& [part, value] : parts) {
    const auto before = earlier->fingerprint_parts.find(part);
    if (before == earlier->fingerprint_parts.end())
      changed.push_back(part + " (not recorded then)");
    else if (before->second != value)
      changed.push_back(fmt::format("{} ({} → {})", part, before->second, value));
  }
  if (changed.empty())
    changed.push_back(fmt::format("it ended as {}, which is not re-used", name_of(earlier->outcome)));
  context_.say(
      fmt::format("{}: measured again, changed since trial {}: {}", variant, earlier->id, join(changed, ", ")));
}

model::TrialRecord Exploration::blank(search::VariantId id) {
  model::TrialRecord trial;
  trial.session = context_.session;
  trial.problem = record_.id;
  trial.op = record_.op;
  trial.problem_text = record_.problem.text();
  trial.variant = prepared_.space.variant(id);
  trial.is_default = id == prepared_.default_id;
  trial.seed = prepared_.plan.seed;
  trial.fingerprint_parts = parts(id);
  trial.fingerprint = trial::fingerprint(trial.fingerprint_parts);
  trial.samples.cache_state = context_.options.cache_state;
  trial.date = utc_now();
  return trial;
}

void Exploration::record(search::VariantId id, model::TrialRecord trial) {
  ++outcomes_[trial.outcome];
  context_.store.add_trial(trial);
  strategy_->tell(id, trial.outcome, trial.timing.time_us);
  report_progress(false);
}

void Exploration::report_progress(bool finals) {
  if (!context_.observer.progress) return;
  ProblemStatus status;
  status.index = index_;
  status.count = count_;
  status.op = record_.op;
  status.problem = record_.problem.text();
  status.outcomes = outcomes_;
  status.total = prepared_.space.size();
  for (const auto& [outcome, count] : outcomes_) status.done += count;
  status.reused = reused_;
  for (const auto& [id, candidate] : measured_)
    if (status.best_us == 0.0 || candidate.time_us < status.best_us) status.best_us = candidate.time_us;
  status.elapsed_s = now_s() - context_.start_s;
  status.finals = finals;
  status.timer = record_.timer;
  context_.observer.progress(status);
}

}  // namespace ktune::sweep
