#include "sweep/loop.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/process.h"
#include "base/text.h"
#include "expr/resolve.h"
#include "trial/build.h"
#include "trial/trial.h"

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
    : context_(context), prepared_(prepared), index_(index), count_(count) {
  strategy_ =
      search::make_strategy(context.options.strategy, prepared.space, prepared.default_id, context.options.seed);
  record_.session = context.session;
  record_.op = prepared.spec->name;
  record_.spec_hash = prepared.spec->hash;
  record_.problem = prepared.problem;
  record_.default_variant = prepared.default_variant;
  record_.cost = prepared.cost;
  record_.enumerated = prepared.space.enumerated;
  record_.rejected = prepared.space.rejected;
  record_.not_visited = static_cast<std::int64_t>(prepared.space.variants.size());
}

bool Exploration::stop() {
  if (!stopped_by_budget_ && context_.out_of_budget()) stopped_by_budget_ = true;
  return interrupted() || stopped_by_budget_;
}

model::ProblemRecord Exploration::run() {
  const auto job = trial::reference_job(*prepared_.spec, prepared_.problem, prepared_.default_variant, context_.facts,
                                        context_.options.compile_deadline_s);
  record_.source_hash = compile::cache_key(job);
  record_.id = context_.store.add_problem(record_);
  try {
    explore();
    if (failure_.empty() && !stop()) time_finalists();
  } catch (const Error& error) {  // Ctrl-C in the middle of a worker's call: what is stored stays
    if (error.kind() != ErrorKind::kInterrupted) throw;
  }
  std::int64_t tried = 0;
  for (const auto& [outcome, count] : outcomes_) tried += count;
  record_.not_visited = static_cast<std::int64_t>(prepared_.space.variants.size()) - tried;
  record_.reused = reused_;
  context_.store.update_problem(record_);
  return record_;
}

/// Compiles and runs the reference, once the first variant needs it: a sweep that re-uses everything launches nothing.
void Exploration::prepare_reference() {
  if (reference_ready_ || !failure_.empty()) return;
  const auto job = trial::reference_job(*prepared_.spec, prepared_.problem, prepared_.default_variant, context_.facts,
                                        context_.options.compile_deadline_s);
  if (!reference_ticket_) reference_ticket_ = context_.pool.submit(job);
  std::optional<model::Result<model::KernelBinary>> reference;
  while (!reference && !stop()) {
    auto result = context_.pool.wait(0.1);
    if (!result) continue;
    if (result->ticket == *reference_ticket_) {
      reference = std::move(result->binary);
    } else if (const auto at = compiling_.find(result->ticket); at != compiling_.end()) {
      if (result->binary) ready_.push_back({at->second, std::move(*result->binary)});
      compiling_.erase(at);
    }
  }
  if (!reference) return;
  if (!*reference) {
    failure_ = "the reference did not compile: " + reference->error().reason + "\n" + reference->error().detail;
    return;
  }
  if (auto status = context_.worker.set_problem(prepared_.plan, **reference); !status) {
    failure_ = "the reference could not be computed: " + status.error().reason + "\n" + status.error().detail;
    return;
  }
  reference_ready_ = true;
}

void Exploration::explore() {
  while (!stop() && failure_.empty()) {
    const bool fed = feed();
    if (ready_.empty() && compiling_.empty() && !fed) {
      if (exhausted_) break;
      continue;
    }
    take_compiled(ready_.empty() ? 0.1 : 0.0);
    report_progress(false);
    if (ready_.empty()) continue;
    prepare_reference();
    if (!reference_ready_) continue;
    const Ready next = std::move(ready_.front());
    ready_.pop_front();
    run_one(next);
  }
}

/// Asks the strategy for variants until enough compiles are queued. True if anything was done.
bool Exploration::feed() {
  bool any = false;
  const auto want = static_cast<std::size_t>(context_.pool.jobs() + kQueueAhead);
  while (!exhausted_ && compiling_.size() + ready_.size() < want) {
    const auto id = strategy_->next();
    if (!id) {
      exhausted_ = compiling_.empty() && ready_.empty();
      break;
    }
    any = true;
    const auto at = static_cast<std::size_t>(*id);
    auto job = trial::variant_job(*prepared_.spec, prepared_.problem, prepared_.space.variants[at], context_.facts,
                                  context_.options.compile_deadline_s);
    parts_[*id] = trial::fingerprint_parts(*prepared_.spec, prepared_.problem, prepared_.space.variants[at],
                                           context_.facts, compile::cache_key(job), prepared_.plan.seed,
                                           context_.options.timer, context_.options.cache_state);
    if (context_.options.reuse && reuse(*id)) continue;
    if (!reference_ticket_ && !reference_ready_)
      reference_ticket_ =
          context_.pool.submit(trial::reference_job(*prepared_.spec, prepared_.problem, prepared_.default_variant,
                                                    context_.facts, context_.options.compile_deadline_s));
    compiling_[context_.pool.submit(std::move(job))] = *id;
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
    const auto at = compiling_.find(result->ticket);
    if (at == compiling_.end()) continue;
    const search::VariantId id = at->second;
    compiling_.erase(at);
    if (result->binary) {
      ready_.push_back({id, std::move(*result->binary)});
      continue;
    }
    model::TrialRecord trial = blank(id);
    trial.outcome = result->binary.error().outcome;
    trial.reason = result->binary.error().reason;
    trial.detail = result->binary.error().detail;
    record(id, std::move(trial));
  }
}

bool Exploration::reuse(search::VariantId id) {
  const auto& parts = parts_[id];
  auto found = context_.store.find_trial(trial::fingerprint(parts));
  if (!found) {
    if (context_.options.explain) explain_miss(id, parts);
    return false;
  }
  context_.store.link_trial(record_.id, found->id);
  ++outcomes_[found->outcome];
  ++reused_;
  const double time_us = found->outcome == model::Outcome::kMeasured ? found->timing.time_us : 0.0;
  if (found->outcome == model::Outcome::kMeasured) measured_[id] = Candidate{id, time_us, {}};
  strategy_->tell(id, found->outcome, time_us);
  return true;
}

void Exploration::explain_miss(search::VariantId id, const std::map<std::string, std::string>& parts) {
  const std::string variant = prepared_.space.variants[static_cast<std::size_t>(id)].text();
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

model::TrialRecord Exploration::blank(search::VariantId id) const {
  model::TrialRecord trial;
  trial.session = context_.session;
  trial.problem = record_.id;
  trial.op = record_.op;
  trial.problem_text = record_.problem.text();
  trial.variant = prepared_.space.variants[static_cast<std::size_t>(id)];
  trial.is_default = id == prepared_.default_id;
  trial.seed = prepared_.plan.seed;
  if (const auto at = parts_.find(id); at != parts_.end()) {
    trial.fingerprint_parts = at->second;
    trial.fingerprint = trial::fingerprint(at->second);
  }
  trial.samples.cache_state = context_.options.cache_state;
  trial.date = utc_now();
  return trial;
}

void Exploration::run_one(const Ready& ready) {
  const auto at = static_cast<std::size_t>(ready.id);
  const trial::MeasureRequest request = measure_policy(context_.facts, context_.options).request;
  const auto plan =
      expr::resolve_variant(*prepared_.spec, prepared_.problem, prepared_.scope, prepared_.space.variants[at]);
  model::TrialRecord trial = blank(ready.id);
  trial::run_trial(context_.worker, ready.id, plan, ready.binary, request, trial);
  ++trials_run_;
  if (trial.outcome == model::Outcome::kMeasured)
    measured_[ready.id] = Candidate{ready.id, trial.timing.time_us, ready.binary};
  record(ready.id, std::move(trial));
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
  status.prepared = &prepared_;
  status.outcomes = outcomes_;
  status.total = static_cast<std::int64_t>(prepared_.space.variants.size());
  for (const auto& [outcome, count] : outcomes_) status.done += count;
  status.reused = reused_;
  for (const auto& [id, candidate] : measured_)
    if (status.best_us == 0.0 || candidate.time_us < status.best_us) status.best_us = candidate.time_us;
  status.elapsed_s = now_s() - context_.start_s;
  status.finals = finals;
  context_.observer.progress(status);
}

}  // namespace ktune::sweep
