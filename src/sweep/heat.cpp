#include "sweep/heat.h"

#include <utility>

#include "measure/noise.h"
#include "trial/trial.h"

namespace ktune::sweep {

namespace {

/// Variants on the bench at once: enough that a minute's drift is shared, few enough that their scratch memory fits.
constexpr std::size_t kHeat = 16;

}  // namespace

Heat::Heat(const Context& context, Sampler& sampler, TrialBook& book, const RacePolicy& policy)
    : context_(context), sampler_(sampler), book_(book), policy_(policy) {}

bool Heat::has_room() const { return runners_.size() < kHeat; }

void Heat::enter(Compiled compiled) {
  if (!compiled.binary) return book_.add_unbuilt(compiled.id, compiled.binary.error());
  model::TrialRecord trial = book_.blank(compiled.id);
  if (!sampler_.load(compiled.id, *compiled.binary, trial)) {
    if (trial.outcome == model::Outcome::kRejected && !runners_.empty())
      postponed_.push_back(std::move(compiled));
    else
      book_.add(compiled.id, trial);
    return;
  }
  runners_.push_back(Runner{compiled.id, std::move(*compiled.binary), std::move(trial), {}, false});
  take_block(runners_.back());
  if (runners_.back().done) runners_.pop_back();
}

void Heat::enter_postponed() {
  if (!runners_.empty() || postponed_.empty()) return;
  Compiled next = std::move(postponed_.front());
  postponed_.pop_front();
  enter(std::move(next));
}

void Heat::run_round(const std::function<bool()>& goes_on) {
  for (std::size_t i = 0; i < runners_.size() && goes_on(); ++i) take_block(runners_[i]);
  std::erase_if(runners_, [](const Runner& runner) { return runner.done; });
}

void Heat::take_block(Runner& runner) {
  auto report = sampler_.sample(runner.id, runner.binary, next_block(runner.series, policy_), runner.trial);
  if (!report) {
    runner.done = true;
    return book_.add(runner.id, runner.trial);
  }
  runner.series.add(std::move(*report));
  note_interval(runner.series.summary(), runner.series.inconclusive());
  if (judge(runner.series, best_high_us_, policy_) != Standing::kGoOn) finish(runner);
}

void Heat::note_interval(const model::TimingSummary& timing, bool inconclusive) {
  if (inconclusive || timing.n < policy_.first_block) return;
  if (best_high_us_ == 0.0 || timing.ci_high_us < best_high_us_) best_high_us_ = timing.ci_high_us;
}

void Heat::note(const model::TrialRecord& earlier) {
  if (earlier.outcome == model::Outcome::kMeasured)
    note_interval(earlier.timing, measure::is_inconclusive(earlier.warnings));
}

void Heat::finish(Runner& runner) {
  runner.done = true;
  trial::set_measured(runner.trial, runner.series.report());
  book_.add(runner.id, runner.trial, std::move(runner.binary));
  if (!context_.interrupted()) sampler_.unload(runner.id);
}

void Heat::stop() {
  for (Runner& runner : runners_) {
    if (runner.done) continue;
    if (runner.series.taken() >= policy_.min_samples)
      finish(runner);
    else if (!context_.interrupted())
      sampler_.unload(runner.id);
  }
  runners_.clear();
  postponed_.clear();
}

}  // namespace ktune::sweep
