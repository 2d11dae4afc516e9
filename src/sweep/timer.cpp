#include <fmt/format.h>

#include "base/text.h"
#include "compile/compile.h"
#include "measure/measure.h"
#include "stats/stats.h"
#include "sweep/loop.h"
#include "sweep/timer.h"
#include "trial/build.h"
#include "trial/trial.h"

// `--timer auto` decides once a problem, from its default variant timed by events, for every variant of it: times of
// two timers are not compared. A default that is re-used decides by what was decided when it was measured. Until the
// decision nothing is looked up in the store, since what may be re-used depends on it; compiles run ahead.

namespace ktune::sweep {

namespace {

constexpr int kDecisionSamples = 20;
constexpr int kTrialSamples = 8;  // of a finer timer: its self-test comes with the first

}  // namespace

model::Result<TimerChoice> choose_timer(trial::Worker& worker, std::int64_t variant, const model::DeviceFacts& facts,
                                        model::CacheState cache_state) {
  const std::vector<model::Timer> timers = model::auto_timers(facts.kind);
  const bool decides = model::auto_decides(facts.kind);
  trial::MeasureRequest request;
  request.cache_state = cache_state;
  request.samples = decides ? kDecisionSamples : 1;
  if (decides) request.timer = timers.front();
  const auto first = worker.measure(variant, request);
  if (!first) return tl::unexpected(first.error());
  if (!decides) return TimerChoice{first->samples.timer, "the device's own"};
  const double time_us = stats::median(first->samples.time_us);
  TimerChoice choice{timers.front(),
                     fmt::format("the default takes {} by {}", format_time_us(time_us), name_of(timers.front()))};
  request.samples = kTrialSamples;
  for (const model::Timer finer : timers) {
    if (time_us >= row_of(finer).auto_below_us) continue;
    request.timer = finer;
    const auto there = worker.measure(variant, request);
    if (there) return TimerChoice{finer, choice.why};
    choice.why += fmt::format("; {} cannot be used: {}", row_of(finer).title, there.error().reason);
  }
  return choice;
}

bool auto_decides(const model::DeviceFacts& facts, const Options& options) {
  return options.timer.is_auto() && model::auto_decides(facts.kind);
}

std::string timer_part(const model::DeviceFacts& facts, const Options& options, const model::TimerRequest& timer) {
  if (auto_decides(facts, options)) return fmt::format("auto: {}", name_of(timer));
  return std::string(name_of(options.timer));
}

std::map<std::string, std::string> parts_of(const PreparedProblem& prepared, const model::DeviceFacts& facts,
                                            const Options& options, const model::TimerRequest& timer,
                                            const model::Variant& variant, const std::string& compile_key) {
  auto parts = trial::fingerprint_parts(*prepared.spec, prepared.problem, variant, facts, compile_key,
                                        prepared.plan.seed, timer_part(facts, options, timer), options.cache_state);
  parts["race"] = options.race ? "yes" : "no";
  return parts;
}

std::optional<model::Timer> timer_decided_before(const PreparedProblem& prepared, const model::DeviceFacts& facts,
                                                 store::Store& store, const Options& options) {
  const std::string key = compile::cache_key(trial::variant_job(
      *prepared.spec, prepared.problem, prepared.default_variant, facts, options.compile_deadline_s));
  std::optional<model::Timer> newest;
  std::string date;
  for (const model::Timer timer : model::auto_timers(facts.kind)) {
    const auto found =
        store.find_trial(trial::fingerprint(parts_of(prepared, facts, options, timer, prepared.default_variant, key)));
    if (!found || found->date < date) continue;
    newest = timer;
    date = found->date;
  }
  return newest;
}

void Exploration::set_timer(model::Timer timer, const std::string& why) {
  timer_ = timer;
  record_.timer = name_of(timer);
  context_.say(fmt::format("{} {}: timed by {} ({})", record_.op, record_.problem.text(), name_of(timer), why));
}

/// Decides without measuring where that can be done, else asks for what measuring the default needs.
void Exploration::prepare_timer() {
  if (!auto_decides(context_.facts, context_.options)) {
    timer_ = context_.options.timer;
    return;
  }
  if (context_.options.reuse) {
    if (const auto before = timer_decided_before(prepared_, context_.facts, context_.store, context_.options))
      return set_timer(*before, "as decided when its default was measured");
  }
  reference_ticket_ = context_.pool.submit(reference_job());
  default_ticket_ = context_.pool.submit(job_of(prepared_.default_id));
}

void Exploration::decide_timer() {
  if (!default_binary_) return;
  const model::Timer first = model::auto_timers(context_.facts.kind).front();
  if (!*default_binary_) return set_timer(first, "the default did not compile");
  const model::KernelBinary binary = **default_binary_;
  model::TrialRecord scratch;
  if (!trial::load_and_verify(context_.worker, prepared_.default_id, plan_of(prepared_.default_id), binary, scratch))
    return set_timer(first, "the default cannot be timed: " + scratch.reason);
  const auto choice = choose_timer(context_.worker, prepared_.default_id, context_.facts, context_.options.cache_state);
  if (choice)
    set_timer(choice->timer, choice->why);
  else
    set_timer(first, "the default cannot be timed: " + choice.error().reason);
  context_.worker.unload(prepared_.default_id);
}

}  // namespace ktune::sweep
