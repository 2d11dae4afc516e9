#include <algorithm>

#include "base/process.h"
#include "expr/resolve.h"
#include "measure/measure.h"
#include "sweep/loop.h"
#include "trial/trial.h"

namespace ktune::sweep {

namespace {

/// Variants in the worker at once: enough that a minute's drift is shared, few enough that their scratch memory fits.
constexpr std::size_t kHeat = 16;

void set_failure(model::TrialRecord& trial, const model::Failure& failure) {
  trial.outcome = failure.outcome;
  trial.reason = failure.reason;
  trial.detail = failure.detail;
  trial.transient = failure.transient;
}

}  // namespace

void Exploration::admit() {
  while (heat_.size() < kHeat && !ready_.empty() && !stop()) {
    Ready next = std::move(ready_.front());
    ready_.pop_front();
    enter(std::move(next));
  }
  if (heat_.empty() && ready_.empty() && !postponed_.empty() && !stop()) {
    Ready next = std::move(postponed_.front());
    postponed_.pop_front();
    enter(std::move(next));
  }
}

/// Loads and verifies a compiled variant and takes its first block. One that the device rejects beside the others
/// (their scratch memory) is tried again alone.
void Exploration::enter(Ready ready) {
  if (context_.options.reuse && !ready.looked_up && reuse(ready.id)) return;
  ready.looked_up = true;
  model::TrialRecord trial = blank(ready.id);
  if (!ready.binary) {
    set_failure(trial, ready.binary.error());
    return record(ready.id, std::move(trial));
  }
  if (!trial::load_and_verify(context_.worker, ready.id, plan_of(ready.id), *ready.binary, trial)) {
    if (trial.outcome == model::Outcome::kRejected && !heat_.empty()) {
      postponed_.push_back(std::move(ready));
      return;
    }
    ++trials_run_;
    return record(ready.id, std::move(trial));
  }
  heat_.push_back(Runner{ready.id, std::move(*ready.binary), std::move(trial), {}, false});
  take_block(heat_.back());
  if (heat_.back().done) heat_.pop_back();
}

/// One block of each, while compiles go on behind.
void Exploration::run_round() {
  for (std::size_t i = 0; i < heat_.size() && !stop(); ++i) {
    take_compiled(0.0);
    feed();
    take_block(heat_[i]);
  }
  std::erase_if(heat_, [](const Runner& runner) { return runner.done; });
}

/// A worker that was replaced (another variant took it down) has lost the variant: it is loaded and verified again.
bool Exploration::is_back(Runner& runner) {
  if (context_.worker.is_loaded(runner.id)) return true;
  return trial::load_and_verify(context_.worker, runner.id, plan_of(runner.id), runner.binary, runner.trial);
}

void Exploration::take_block(Runner& runner) {
  if (runner.done) return;
  trial::MeasureRequest request;
  request.cache_state = context_.options.cache_state;
  request.timer = *timer_;
  request.samples = next_block(runner.series, policy_.race);
  model::Result<trial::MeasureReport> report;
  if (is_back(runner)) {
    report = context_.worker.measure(runner.id, request);
    if (!report) {
      set_failure(runner.trial, report.error());
      context_.worker.unload(runner.id);
    }
  }
  if (runner.trial.outcome != model::Outcome::kMeasured) {
    runner.done = true;
    ++trials_run_;
    return record(runner.id, std::move(runner.trial));
  }
  runner.series.add(std::move(*report));
  note_interval(runner.series.summary(), runner.series.inconclusive());
  if (judge(runner.series, best_high_us_, policy_.race) != Verdict::kGoOn) finish(runner);
}

void Exploration::note_interval(const model::TimingSummary& timing, bool inconclusive) {
  if (inconclusive || timing.n < policy_.race.first_block) return;
  if (best_high_us_ == 0.0 || timing.ci_high_us < best_high_us_) best_high_us_ = timing.ci_high_us;
}

void Exploration::finish(Runner& runner) {
  runner.done = true;
  ++trials_run_;
  measure::Report report = runner.series.report();
  model::TrialRecord& trial = runner.trial;
  trial.outcome = model::Outcome::kMeasured;
  trial.samples = std::move(report.samples);
  trial.timing = measure::summarize(trial.samples);
  trial.before = report.before;
  trial.after = report.after;
  trial.warnings = std::move(report.warnings);
  if (context_.options.timer.is_auto() && record_.timer.empty()) record_.timer = name_of(trial.samples.timer);
  measured_[runner.id] =
      Candidate{runner.id, trial.timing.time_us, runner.series.inconclusive(), std::move(runner.binary)};
  record(runner.id, std::move(trial));
  if (!interrupted()) context_.worker.unload(runner.id);
}

}  // namespace ktune::sweep
