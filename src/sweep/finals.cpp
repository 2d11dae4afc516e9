#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "expr/resolve.h"
#include "measure/measure.h"
#include "measure/noise.h"
#include "measure/series.h"
#include "stats/stats.h"
#include "sweep/loop.h"
#include "trial/build.h"
#include "trial/trial.h"

// The second timing. Choosing the fastest of many noisy times names a time that is too good and, often, a variant that
// is not the best: of 60 variants within 10 % at a run-to-run sd of 2 %, one pass picks one 0.87 % worse than the best
// and reports 3.5 % too little (simulated). So the best few and the default are timed again in rounds, each once a
// round, forwards and backwards in turn; decide.h names the tie set and the winner. Then winner and default are timed a
// last time, and only those samples are reported: they took no part in choosing.

namespace ktune::sweep {

namespace {

/// A block before its variant's cost is known.
constexpr int kUnknownCost = 8;

int fitting(double budget_us, double cost_us, int least, int most) {
  if (cost_us <= 0.0) return std::min(kUnknownCost, most);
  return std::clamp(static_cast<int>(std::min(1e6, budget_us / cost_us)), least, most);
}

}  // namespace

MeasurePolicy measure_policy(const model::DeviceFacts& facts, const Options& options) {
  MeasurePolicy policy;
  policy.race.race = options.race;
  policy.race.budget_us = 1000.0 * options.trial_ms;
  policy.finalists = options.finalists;
  policy.last_us = 3.0 * policy.race.budget_us;
  if (facts.kind == "cpu") {  // a launch takes milliseconds to seconds here: a few samples tell what there is to tell
    policy.race.first_block = 3;
    policy.race.min_samples = 3;
    policy.race.max_samples = 20;
    policy.finalists = std::min(options.finalists, 3);
    policy.rounds = 3;
    policy.round_least = 1;
    policy.round_samples = 5;
    policy.last_blocks = 3;
    policy.last_samples = 30;
  }
  return policy;
}

std::pair<std::int64_t, std::int64_t> resources_used(const model::VariantPlan& plan,
                                                     const std::map<std::string, model::KernelResources>& resources) {
  std::int64_t registers = 0, shared = 0;
  for (const model::LaunchPlan& launch : plan.launches) {
    model::KernelResources kernel;
    if (const auto at = resources.find(launch.kernel); at != resources.end()) kernel = at->second;
    const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    registers = std::max(registers, std::max(kernel.registers, 0) * threads);
    shared = std::max(shared, std::max(kernel.shared_bytes, 0) + launch.smem_bytes);
  }
  return {registers, shared};
}

model::Variant Exploration::previous_winner() const {
  return context_.store.previous_winner(record_.op, record_.problem.text(), context_.facts.name, context_.session);
}

/// The best few, the default, and the winner of before: of more than a few equally fast ones it need not be among the
/// best again. Best first; inconclusive ones only where nothing else was measured.
std::vector<Candidate> Exploration::finalists() const {
  std::vector<Candidate> all;
  for (const auto& [id, candidate] : measured_) all.push_back(candidate);
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.inconclusive, a.time_us) < std::pair(b.inconclusive, b.time_us);
  });
  const auto conclusive = std::count_if(all.begin(), all.end(), [](const Candidate& one) { return !one.inconclusive; });
  const std::size_t eligible = conclusive > 0 ? static_cast<std::size_t>(conclusive) : all.size();
  const auto keep = std::min(static_cast<std::size_t>(std::max(1, policy_.finalists)), eligible);
  std::vector<Candidate> chosen(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(keep));
  const auto add = [&](search::VariantId id) {
    const auto at = measured_.find(id);
    if (at == measured_.end()) return;
    const auto is_it = [id](const Candidate& candidate) { return candidate.id == id; };
    if (std::none_of(chosen.begin(), chosen.end(), is_it)) chosen.push_back(at->second);
  };
  add(prepared_.default_id);
  if (const auto before = prepared_.space.find(previous_winner())) add(*before);
  return chosen;
}

/// A final's time is of a choice among these finalists: with others it might not be the winner's.
std::map<std::string, std::string> Exploration::final_parts(search::VariantId id,
                                                            const std::vector<Candidate>& chosen) {
  std::vector<std::string> texts;
  for (const Candidate& candidate : chosen) texts.push_back(prepared_.space.variant(candidate.id).text());
  std::sort(texts.begin(), texts.end());
  std::map<std::string, std::string> result = parts(id);
  result["round"] = "final";
  result["finalists"] = hash_hex(join(texts, "\n"));
  return result;
}

/// Takes over winner, tie set and final times of an earlier choice among the same finalists.
bool Exploration::reuse_finals(const std::vector<Candidate>& chosen) {
  if (!context_.options.reuse) return false;
  std::vector<model::TrialRecord> found;
  for (const Candidate& candidate : chosen)
    if (const auto trial = context_.store.find_trial(trial::fingerprint(final_parts(candidate.id, chosen))))
      found.push_back(*trial);
  if (found.empty()) return false;
  std::stable_sort(found.begin(), found.end(),
                   [](const model::TrialRecord& a, const model::TrialRecord& b) { return a.date > b.date; });
  const auto earlier = context_.store.load_problem(found.front().problem);
  if (!earlier) return false;
  const bool complete = std::any_of(found.begin(), found.end(), [&](const model::TrialRecord& trial) {
    return trial.problem == earlier->id && trial.variant == earlier->winner;
  });
  if (!complete) return false;
  for (const model::TrialRecord& trial : found)
    if (trial.problem == earlier->id) context_.store.link_trial(record_.id, trial.id);
  record_.winner = earlier->winner;
  record_.tie_set = earlier->tie_set;
  return true;
}

/// What an earlier session compiled comes from the cache.
bool Exploration::compile_finalist(Candidate& candidate) {
  if (!candidate.binary.key.empty()) return true;
  if (!reference_ticket_) reference_ticket_ = context_.pool.submit(reference_job());
  const std::int64_t ticket = context_.pool.submit(job_of(candidate.id));
  compiling_[ticket] = Ready{candidate.id, {}, true};
  while (compiling_.contains(ticket) && failure_.empty() && !stop()) take_compiled(0.1);
  for (const Ready& ready : ready_)
    if (ready.id == candidate.id && ready.binary) candidate.binary = *ready.binary;
  ready_.clear();
  return !candidate.binary.key.empty();
}

/// Loads and verifies a finalist; false if it no longer works.
bool Exploration::load_finalist(Candidate& candidate) {
  if (!compile_finalist(candidate)) return false;
  while (!reference_ready_ && failure_.empty() && !stop()) take_compiled(0.1);
  if (!reference_ready_) return false;
  model::TrialRecord scratch;
  return trial::load_and_verify(context_.worker, candidate.id, plan_of(candidate.id), candidate.binary, scratch);
}

/// A worker that was replaced (another finalist took it down) has lost the variant: it is loaded and verified again.
model::Result<trial::MeasureReport> Exploration::sample(Candidate& candidate, int samples) {
  if (!context_.worker.is_loaded(candidate.id) && !load_finalist(candidate))
    return model::fail(model::Outcome::kCrashed, "it can no longer be loaded and verified");
  trial::MeasureRequest request;
  request.cache_state = context_.options.cache_state;
  request.timer = *timer_;
  request.samples = samples;
  return context_.worker.measure(candidate.id, request);
}

/// True if the device held its clock down meanwhile.
bool Exploration::time_round(std::vector<Finalist>& finalists, int round) {
  bool throttled = false;
  for (std::size_t i = 0; i < finalists.size() && !stop(); ++i) {
    Finalist& finalist = finalists[round % 2 == 0 ? i : finalists.size() - 1 - i];
    if (finalist.failed) continue;
    const auto report = sample(finalist.candidate,
                               fitting(policy_.round_us, finalist.cost_us, policy_.round_least, policy_.round_samples));
    if (!report) {
      finalist.failed = true;
      context_.say(fmt::format("{}: a finalist no more: {}", prepared_.space.variant(finalist.candidate.id).text(),
                               report.error().reason));
      continue;
    }
    finalist.cost_us = report->cost_us;
    finalist.rounds.push_back(stats::trimmed_mean(report->samples.time_us, measure::kTrimmed));
    throttled = throttled || measure::throttle_reasons(report->before, report->after) != 0;
  }
  return throttled;
}

void Exploration::time_rounds(std::vector<Finalist>& finalists) {
  std::vector<bool> throttled;
  for (int round = 0; round < policy_.rounds && !stop(); ++round) throttled.push_back(time_round(finalists, round));
  std::erase_if(finalists, [](const Finalist& finalist) { return finalist.failed; });
  const auto bad = static_cast<int>(std::count(throttled.begin(), throttled.end(), true));
  if (bad == 0 || stop()) return;
  if (bad * measure::kDroppedShare > policy_.rounds) {
    choice_doubt_ = measure::warning_text(
        measure::Noise::kInconclusive,
        fmt::format("{} of {} rounds that chose the winner were timed while the device held its clock down", bad,
                    policy_.rounds));
    return;
  }
  for (Finalist& finalist : finalists) {
    std::vector<double> kept;
    for (std::size_t round = 0; round < finalist.rounds.size(); ++round)
      if (!throttled[round]) kept.push_back(finalist.rounds[round]);
    finalist.rounds = std::move(kept);
  }
}

std::vector<Contender> Exploration::contenders(const std::vector<Finalist>& finalists) const {
  const model::Variant before = previous_winner();
  std::vector<Contender> contenders;
  for (const Finalist& finalist : finalists) {
    const search::VariantId id = finalist.candidate.id;
    const auto [registers, shared] = resources_used(plan_of(id), finalist.candidate.binary.resources);
    contenders.push_back(
        {id, id == prepared_.default_id, prepared_.space.variant(id) == before, registers, shared, finalist.rounds});
  }
  return contenders;
}

void Exploration::time_finalists() {
  const std::vector<Candidate> chosen = finalists();
  if (chosen.empty() || reuse_finals(chosen)) return;
  report_progress(true);
  std::vector<Finalist> finalists;
  for (const Candidate& candidate : chosen) finalists.push_back({candidate, {}, 0.0, false});
  time_rounds(finalists);
  if (!stop()) name_winner(std::move(finalists), chosen);
  if (interrupted()) return;
  for (const Candidate& candidate : chosen) context_.worker.unload(candidate.id);
}

/// Decides, and times winner and default for the report. A winner that fails there is a finalist no more.
void Exploration::name_winner(std::vector<Finalist> finalists, const std::vector<Candidate>& chosen) {
  while (!finalists.empty() && !stop()) {
    const Choice choice = choose(contenders(finalists));
    const auto is_default = [this](const Finalist& finalist) { return finalist.candidate.id == prepared_.default_id; };
    const auto standard = std::find_if(finalists.begin(), finalists.end(), is_default);
    Finalist& winner = finalists[choice.winner];
    if (last_round(winner, standard == finalists.end() ? nullptr : &*standard, chosen)) {
      const auto variant = [&](std::size_t i) { return prepared_.space.variant(finalists[i].candidate.id); };
      record_.winner = variant(choice.winner);
      std::vector<std::size_t> tied = choice.tie_set;  // in the space's order: comparable between sweeps
      std::sort(tied.begin(), tied.end(),
                [&](std::size_t a, std::size_t b) { return finalists[a].candidate.id < finalists[b].candidate.id; });
      for (const std::size_t i : tied) record_.tie_set.push_back(variant(i));
      return;
    }
    std::erase_if(finalists, [](const Finalist& finalist) { return finalist.failed; });
  }
}

/// Blocks of winner and default, ABBA BAAB. False, and stores nothing, if one of them fails or the sweep is stopped.
bool Exploration::last_round(Finalist& winner, Finalist* standard, const std::vector<Candidate>& chosen) {
  std::vector<Finalist*> pair{&winner};
  if (standard != nullptr && standard != &winner) pair.push_back(standard);
  std::vector<measure::Series> series(pair.size());
  for (int block = 0; block < policy_.last_blocks; ++block) {
    for (std::size_t i = 0; i < pair.size(); ++i) {
      const std::size_t at = block % 2 == 0 ? i : pair.size() - 1 - i;
      Finalist& finalist = *pair[at];
      const int most = std::max(2, policy_.last_samples / policy_.last_blocks);
      auto report =
          sample(finalist.candidate, fitting(policy_.last_us / policy_.last_blocks, finalist.cost_us, 2, most));
      finalist.failed = !report && !stop();
      if (!report || stop()) return false;
      series[at].add(std::move(*report));
    }
  }
  for (std::size_t i = 0; i < pair.size(); ++i) record_final(*pair[i], series[i], chosen);
  return true;
}

void Exploration::record_final(const Finalist& finalist, const measure::Series& series,
                               const std::vector<Candidate>& chosen) {
  const measure::Report report = series.report();
  model::TrialRecord trial = blank(finalist.candidate.id);
  trial.is_final = true;
  trial.fingerprint_parts = final_parts(finalist.candidate.id, chosen);
  trial.fingerprint = trial::fingerprint(trial.fingerprint_parts);
  trial.binary_key = finalist.candidate.binary.key;
  trial.resources = finalist.candidate.binary.resources;
  trial.samples = report.samples;
  trial.timing = measure::summarize(report.samples);
  trial.before = report.before;
  trial.after = report.after;
  trial.warnings = report.warnings;
  if (!choice_doubt_.empty()) trial.warnings.push_back(choice_doubt_);
  context_.store.add_trial(trial);
}

}  // namespace ktune::sweep
