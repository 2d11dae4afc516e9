#include "sweep/trial_book.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "measure/noise.h"
#include "trial/build.h"
#include "trial/trial.h"

namespace ktune::sweep {

namespace {

using Parts = std::map<std::string, std::string>;

/// What differs between a trial's parts and those of an earlier trial of the same variant.
std::string changes(const Parts& parts, const model::TrialRecord& earlier) {
  std::vector<std::string> changed;
  for (const auto& [part, value] : parts) {
    const auto before = earlier.fingerprint_parts.find(part);
    if (before == earlier.fingerprint_parts.end())
      changed.push_back(part + " (not recorded then)");
    else if (before->second != value)
      changed.push_back(fmt::format("{} ({} → {})", part, before->second, value));
  }
  if (changed.empty()) changed.push_back(fmt::format("it ended as {}, which is not re-used", name_of(earlier.outcome)));
  return join(changed, ", ");
}

}  // namespace

model::ProblemRecord unvisited_record(const PreparedProblem& prepared, std::int64_t session) {
  model::ProblemRecord record;
  record.session = session;
  record.op = prepared.spec->name;
  record.spec_hash = prepared.spec->hash;
  record.problem = prepared.problem;
  record.default_variant = prepared.default_variant;
  record.cost = prepared.cost;
  record.enumerated = prepared.space.enumerated();
  record.rejected = prepared.space.rejected();
  record.not_visited = prepared.space.size() + prepared.space.not_enumerated();
  return record;
}

TrialBook::TrialBook(const Context& context, const Recipes& recipes, TimerDecision& timer, search::Strategy& strategy,
                     model::ProblemRecord record, Place place)
    : context_(context),
      recipes_(recipes),
      timer_(timer),
      strategy_(strategy),
      record_(std::move(record)),
      place_(place) {}

const Parts& TrialBook::parts(search::VariantId id) {
  Parts& parts = parts_[id];
  if (parts.empty()) parts = recipes_.parts(id, timer_.timer());
  return parts;
}

model::TrialRecord TrialBook::blank(search::VariantId id) {
  model::TrialRecord trial;
  trial.session = context_.session;
  trial.problem = record_.id;
  trial.op = record_.op;
  trial.problem_text = record_.problem.text();
  trial.variant = recipes_.variant(id);
  trial.is_default = id == recipes_.prepared().default_id;
  trial.seed = recipes_.prepared().plan.seed;
  trial.fingerprint_parts = parts(id);
  trial.fingerprint = trial::fingerprint(trial.fingerprint_parts);
  trial.samples.cache_state = context_.options.cache_state;
  trial.date = utc_now();
  return trial;
}

void TrialBook::add(search::VariantId id, const model::TrialRecord& trial, model::KernelBinary binary) {
  ++trials_run_;
  context_.ledger.add_trial(trial);
  enter(id, trial, std::move(binary));
}

void TrialBook::add_unbuilt(search::VariantId id, const model::Failure& failure) {
  model::TrialRecord trial = blank(id);
  trial::set_failure(trial, failure);
  context_.ledger.add_trial(trial);
  enter(id, trial, {});
}

std::optional<model::TrialRecord> TrialBook::reuse(search::VariantId id) {
  auto found = context_.ledger.find_trial(trial::fingerprint(parts(id)));
  if (found) {
    context_.ledger.link_trial(record_.id, found->id);
    ++record_.reused;
    enter(id, *found, {});
    return found;
  }
  if (!context_.options.explain) return std::nullopt;
  const std::string variant = recipes_.variant(id).text();
  const auto earlier = context_.ledger.nearest_trial(record_.op, record_.problem.text(), variant);
  if (earlier)
    context_.say(fmt::format("{}: measured again, changed since trial {}: {}", variant, earlier->id,
                             changes(parts(id), *earlier)));
  else
    context_.say(fmt::format("{}: never measured before", variant));
  return std::nullopt;
}

void TrialBook::enter(search::VariantId id, const model::TrialRecord& trial, model::KernelBinary binary) {
  ++outcomes_[trial.outcome];
  parts_.erase(id);
  double time_us = 0.0;
  if (trial.outcome == model::Outcome::kMeasured) {
    time_us = trial.timing.time_us;
    timer_.note(trial.samples.timer);
    measured_[id] = Candidate{id, time_us, measure::is_inconclusive(trial.warnings), std::move(binary)};
    if (best_us_ == 0.0 || time_us < best_us_) best_us_ = time_us;
  }
  strategy_.tell(id, trial.outcome, time_us);
  report_progress();
}

void TrialBook::name_winner(const model::Variant& winner, std::vector<model::Variant> tie_set) {
  record_.winner = winner;
  record_.tie_set = std::move(tie_set);
}

std::int64_t TrialBook::entered() const {
  std::int64_t count = 0;
  for (const auto& [outcome, trials] : outcomes_) count += trials;
  return count;
}

void TrialBook::settle() {
  const space::Space& space = recipes_.prepared().space;
  record_.not_visited = space.size() - entered() + space.not_enumerated();
  record_.timer = timer_.recorded();
  context_.ledger.update_problem(record_);
}

void TrialBook::report_progress(bool finals) const {
  if (!context_.observer.progress) return;
  ProblemStatus status;
  status.index = place_.index;
  status.count = place_.count;
  status.op = record_.op;
  status.problem = record_.problem.text();
  status.outcomes = outcomes_;
  status.total = recipes_.prepared().space.size();
  status.done = entered();
  status.reused = record_.reused;
  status.best_us = best_us_;
  status.elapsed_s = context_.budget.elapsed_s();
  status.finals = finals;
  status.timer = timer_.recorded();
  context_.observer.progress(status);
}

}  // namespace ktune::sweep
