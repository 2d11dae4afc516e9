#include "sweep/finals.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "measure/noise.h"
#include "stats/stats.h"
#include "trial/build.h"
#include "trial/trial.h"

namespace ktune::sweep {

Finals::Finals(const Context& context, const Recipes& recipes, CompileAhead& compiles, Sampler& sampler,
               TrialBook& book, const MeasurePolicy& policy)
    : context_(context), recipes_(recipes), compiles_(compiles), sampler_(sampler), book_(book), policy_(policy) {}

void Finals::run() {
  const model::ProblemRecord& record = book_.record();
  previous_winner_ =
      context_.ledger.previous_winner(record.op, record.problem.text(), context_.facts.name, context_.session);
  // Of more than a few equally fast variants, the winner of before need not be among the best again.
  std::vector<search::VariantId> always{recipes_.prepared().default_id};
  if (const auto before = recipes_.prepared().space.find(previous_winner_)) always.push_back(*before);
  chosen_ = choose_finalists(book_.measured(), policy_.finalists, always);
  if (chosen_.empty() || take_over_earlier()) return;
  book_.report_progress(true);
  for (const Candidate& candidate : chosen_) finalists_.push_back({candidate});
  time_rounds();
  name_winner();
  if (context_.interrupted()) return;
  for (const Candidate& candidate : chosen_) sampler_.unload(candidate.id);
}

/// A final's time is of a choice among these finalists: with others it might not be the winner's.
std::map<std::string, std::string> Finals::parts(search::VariantId id) const {
  std::vector<std::string> texts;
  for (const Candidate& candidate : chosen_) texts.push_back(recipes_.variant(candidate.id).text());
  std::sort(texts.begin(), texts.end());
  std::map<std::string, std::string> result = book_.blank(id).fingerprint_parts;
  result["round"] = "final";
  result["finalists"] = hash_hex(join(texts, "\n"));
  return result;
}

/// Takes over winner, tie set and final times of an earlier choice among the same finalists.
bool Finals::take_over_earlier() {
  if (!context_.options.reuse) return false;
  std::vector<model::TrialRecord> found;
  for (const Candidate& candidate : chosen_)
    if (const auto trial = context_.ledger.find_trial(trial::fingerprint(parts(candidate.id)))) found.push_back(*trial);
  if (found.empty()) return false;
  std::stable_sort(found.begin(), found.end(),
                   [](const model::TrialRecord& a, const model::TrialRecord& b) { return a.date > b.date; });
  const auto earlier = context_.ledger.load_problem(found.front().problem);
  if (!earlier) return false;
  const bool complete = std::any_of(found.begin(), found.end(), [&](const model::TrialRecord& trial) {
    return trial.problem == earlier->id && trial.variant == earlier->winner;
  });
  if (!complete) return false;
  for (const model::TrialRecord& trial : found)
    if (trial.problem == earlier->id) context_.ledger.link_trial(book_.record().id, trial.id);
  book_.name_winner(earlier->winner, earlier->tie_set);
  return true;
}

/// One that was re-used has no binary yet: it is compiled first, mostly from the cache.
model::Result<measure::Measurement> Finals::sample(Finalist& finalist, int samples) {
  Candidate& candidate = finalist.candidate;
  if (candidate.binary.key.empty()) {
    auto binary = compiles_.compile(candidate.id);
    if (!binary) return tl::unexpected(binary.error());
    candidate.binary = std::move(*binary);
  }
  model::TrialRecord scratch;
  return sampler_.sample(candidate.id, candidate.binary, samples, scratch);
}

/// True if the device held its clock down meanwhile.
bool Finals::time_round(int round) {
  bool throttled = false;
  for (std::size_t i = 0; i < finalists_.size() && !context_.interrupted(); ++i) {
    Finalist& finalist = finalists_[round % 2 == 0 ? i : finalists_.size() - 1 - i];
    if (finalist.failed) continue;
    const auto report = sample(finalist, round_samples(policy_, finalist.cost_us));
    if (!report) {
      finalist.failed = true;
      context_.say(fmt::format("{}: a finalist no more: {}", recipes_.variant(finalist.candidate.id).text(),
                               report.error().reason));
      continue;
    }
    finalist.cost_us = report->cost_us;
    finalist.rounds.push_back(stats::trimmed_mean(report->samples.time_us, measure::kTrimmed));
    throttled = throttled || measure::throttle_reasons(report->before, report->after) != 0;
  }
  return throttled;
}

void Finals::time_rounds() {
  std::vector<bool> throttled;
  for (int round = 0; round < policy_.rounds && !context_.interrupted(); ++round) {
    if (round >= policy_.fewest_rounds && context_.budget.is_used_up()) break;
    throttled.push_back(time_round(round));
  }
  std::erase_if(finalists_, [](const Finalist& finalist) { return finalist.failed; });
  const auto timed = static_cast<int>(throttled.size());
  const auto bad = static_cast<int>(std::count(throttled.begin(), throttled.end(), true));
  if (timed < policy_.rounds)
    doubt_ = measure::warning_text(
        measure::Noise::kFewSamples,
        fmt::format("the budget left {} of {} rounds to choose the winner", timed, policy_.rounds));
  if (bad == 0 || context_.interrupted()) return;
  if (bad * measure::kDroppedShare > timed) {
    doubt_ = measure::warning_text(
        measure::Noise::kInconclusive,
        fmt::format("{} of {} rounds that chose the winner were timed while the device held its clock down", bad,
                    timed));
    return;
  }
  for (Finalist& finalist : finalists_) {
    std::vector<double> kept;
    for (std::size_t round = 0; round < finalist.rounds.size(); ++round)
      if (!throttled[round]) kept.push_back(finalist.rounds[round]);
    finalist.rounds = std::move(kept);
  }
}

std::vector<Contender> Finals::contenders() const {
  std::vector<Contender> contenders;
  for (const Finalist& finalist : finalists_) {
    const search::VariantId id = finalist.candidate.id;
    const auto [registers, shared] =
        resources_used(recipes_.plan(id).value_or(model::VariantPlan{}), finalist.candidate.binary.resources);
    contenders.push_back({id, id == recipes_.prepared().default_id, recipes_.variant(id) == previous_winner_, registers,
                          shared, finalist.rounds});
  }
  return contenders;
}

/// Decides, and times winner and default for the report. A winner that fails there is a finalist no more.
void Finals::name_winner() {
  const auto is_default = [this](const Finalist& finalist) {
    return finalist.candidate.id == recipes_.prepared().default_id;
  };
  while (!finalists_.empty() && !context_.interrupted()) {
    const Choice choice = choose(contenders());
    Finalist& winner = finalists_[choice.winner];
    const auto the_default = std::find_if(finalists_.begin(), finalists_.end(), is_default);
    if (last_round(winner, the_default == finalists_.end() ? winner : *the_default)) {
      std::vector<search::VariantId> tied;  // in the space's order: comparable between sweeps
      for (const std::size_t i : choice.tie_set) tied.push_back(finalists_[i].candidate.id);
      std::sort(tied.begin(), tied.end());
      std::vector<model::Variant> tie_set;
      for (const search::VariantId id : tied) tie_set.push_back(recipes_.variant(id));
      return book_.name_winner(recipes_.variant(winner.candidate.id), std::move(tie_set));
    }
    std::erase_if(finalists_, [](const Finalist& finalist) { return finalist.failed; });
  }
}

/// Blocks of winner and default (which may be one), ABBA BAAB. False, and stores nothing, if one of them fails or
/// Ctrl-C comes.
bool Finals::last_round(Finalist& winner, Finalist& the_default) {
  std::vector<Finalist*> pair{&winner};
  if (&the_default != &winner) pair.push_back(&the_default);
  std::vector<measure::Series> series(pair.size());
  for (int block = 0; block < policy_.last_blocks; ++block) {
    for (std::size_t i = 0; i < pair.size(); ++i) {
      const std::size_t at = block % 2 == 0 ? i : pair.size() - 1 - i;
      auto report = sample(*pair[at], last_block_samples(policy_, pair[at]->cost_us));
      pair[at]->failed = !report && !context_.interrupted();
      if (!report || context_.interrupted()) return false;
      series[at].add(std::move(*report));
    }
  }
  for (std::size_t i = 0; i < pair.size(); ++i) store(*pair[i], series[i]);
  return true;
}

void Finals::store(const Finalist& finalist, const measure::Series& series) {
  model::TrialRecord trial = book_.blank(finalist.candidate.id);
  trial.is_final = true;
  trial.fingerprint_parts = parts(finalist.candidate.id);
  trial.fingerprint = trial::fingerprint(trial.fingerprint_parts);
  trial.binary_key = finalist.candidate.binary.key;
  trial.resources = finalist.candidate.binary.resources;
  trial::set_measured(trial, series.report());
  if (!doubt_.empty()) trial.warnings.push_back(doubt_);
  context_.ledger.add_trial(trial);
}

}  // namespace ktune::sweep
