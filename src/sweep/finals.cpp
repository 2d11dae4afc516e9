#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "expr/resolve.h"
#include "measure/measure.h"
#include "sweep/loop.h"
#include "trial/build.h"
#include "trial/trial.h"

// The second timing. Choosing the fastest of many noisy times names a time that is too good and, often, a variant that
// is not the best: of 60 variants within 10 % at a run-to-run sd of 2 %, one pass picks one 0.87 % worse than the best
// and reports 3.5 % too little; timing the best eight again, in turn, gives 0.37 % and 0.85 % (simulated). So the
// winner's time comes from samples that took no part in choosing the finalists, taken round-robin so that a drift of
// the machine meets them all alike, with the default always among them.

namespace ktune::sweep {

namespace {

constexpr int kRounds = 3;

std::map<std::string, std::string> final_parts(std::map<std::string, std::string> parts) {
  parts["round"] = "final";
  return parts;
}

}  // namespace

MeasurePolicy measure_policy(const model::DeviceFacts& facts, const Options& options) {
  MeasurePolicy policy;
  policy.request.budget_ms = options.trial_ms;
  policy.request.cache_state = options.cache_state;
  policy.request.timer = options.timer;
  policy.finalists = options.finalists;
  if (facts.kind == "cpu") {  // a launch takes milliseconds to seconds here: three samples tell what there is to tell
    policy.request.min_samples = 3;
    policy.request.max_samples = 20;
    policy.finalists = std::min(options.finalists, 3);
  }
  return policy;
}

/// The best few and the default, best first; binaries that an earlier session compiled come from the cache.
std::vector<Candidate> Exploration::finalists() {
  std::vector<Candidate> all;
  for (const auto& [id, candidate] : measured_) all.push_back(candidate);
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.time_us < b.time_us; });
  const auto keep = static_cast<std::size_t>(std::max(1, measure_policy(context_.facts, context_.options).finalists));
  std::vector<Candidate> chosen(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(keep, all.size())));
  const auto is_default = [this](const Candidate& candidate) { return candidate.id == prepared_.default_id; };
  if (std::none_of(chosen.begin(), chosen.end(), is_default)) {
    const auto at = measured_.find(prepared_.default_id);
    if (at != measured_.end()) chosen.push_back(at->second);
  }
  return chosen;
}

bool Exploration::reuse_finals(const std::vector<Candidate>& chosen) {
  if (!context_.options.reuse) return false;
  std::vector<std::int64_t> found;
  for (const Candidate& candidate : chosen) {
    const auto trial = context_.store.find_trial(trial::fingerprint(final_parts(parts_[candidate.id])));
    if (!trial) return false;
    found.push_back(trial->id);
  }
  for (const std::int64_t id : found) context_.store.link_trial(record_.id, id);
  return true;
}

/// Loads and verifies a finalist; false (and a message) if it no longer works.
bool Exploration::load_finalist(Candidate& candidate) {
  const auto& variant = prepared_.space.variants[static_cast<std::size_t>(candidate.id)];
  if (candidate.binary.key.empty()) {
    auto job = trial::variant_job(*prepared_.spec, prepared_.problem, variant, context_.facts,
                                  context_.options.compile_deadline_s);
    const std::int64_t ticket = context_.pool.submit(std::move(job));
    while (auto result = context_.pool.wait(context_.options.compile_deadline_s)) {
      if (result->ticket != ticket) continue;
      if (result->binary) candidate.binary = std::move(*result->binary);
      break;
    }
    if (candidate.binary.key.empty()) return false;
  }
  prepare_reference();
  if (!reference_ready_) return false;
  const auto plan = expr::resolve_variant(*prepared_.spec, prepared_.problem, prepared_.scope, variant);
  if (!context_.worker.load(candidate.id, plan, candidate.binary)) return false;
  const auto report = context_.worker.verify(candidate.id);
  return report && report->ok;
}

/// One round of one finalist. A worker that was replaced (another finalist took it down) has lost it: it is loaded and
/// verified there again.
void Exploration::time_finalist(Candidate& candidate, model::TrialRecord& trial, const trial::MeasureRequest& request) {
  if (trial.outcome != model::Outcome::kMeasured) return;
  if (!context_.worker.is_loaded(candidate.id) && !load_finalist(candidate)) {
    trial.outcome = model::Outcome::kCrashed;
    return;
  }
  const auto report = context_.worker.measure(candidate.id, request);
  if (report) return append_samples(trial, *report);
  trial.outcome = report.error().outcome;
  trial.reason = report.error().reason;
}

void Exploration::time_finalists() {
  std::vector<Candidate> chosen = finalists();
  if (chosen.empty() || reuse_finals(chosen)) return;
  report_progress(true);
  const MeasurePolicy policy = measure_policy(context_.facts, context_.options);
  std::vector<model::TrialRecord> finals;
  for (Candidate& candidate : chosen) {
    model::TrialRecord trial = blank(candidate.id);
    trial.is_final = true;
    trial.fingerprint_parts = final_parts(trial.fingerprint_parts);
    trial.fingerprint = trial::fingerprint(trial.fingerprint_parts);
    if (!load_finalist(candidate)) trial.outcome = model::Outcome::kCrashed;
    trial.binary_key = candidate.binary.key;
    trial.resources = candidate.binary.resources;
    finals.push_back(std::move(trial));
  }
  for (int round = 0; round < kRounds && !stop(); ++round)
    for (std::size_t i = 0; i < chosen.size() && !stop(); ++i) time_finalist(chosen[i], finals[i], policy.request);
  for (const Candidate& candidate : chosen) context_.worker.unload(candidate.id);
  for (model::TrialRecord& trial : finals) {
    if (trial.outcome != model::Outcome::kMeasured || trial.samples.time_us.empty()) continue;
    trial.timing = measure::summarize(trial.samples);
    context_.store.add_trial(trial);
  }
}

void append_samples(model::TrialRecord& trial, const trial::MeasureReport& report) {
  if (trial.samples.time_us.empty()) trial.before = report.before;
  trial.after = report.after;
  trial.samples.timer = report.samples.timer;
  trial.samples.cache_state = report.samples.cache_state;
  trial.samples.time_us.insert(trial.samples.time_us.end(), report.samples.time_us.begin(),
                               report.samples.time_us.end());
  for (const std::string& warning : report.warnings)
    if (std::find(trial.warnings.begin(), trial.warnings.end(), warning) == trial.warnings.end())
      trial.warnings.push_back(warning);
}

}  // namespace ktune::sweep
