#include "report/winners.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "model/newest.h"

namespace ktune::report {

namespace {

using model::Outcome;
using model::ProblemRecord;
using model::SessionRecord;
using model::TrialRecord;

std::string device_name(const model::DeviceFacts& facts) { return facts.name.empty() ? facts.kind : facts.name; }

bool is_timed(const TrialRecord& trial) { return trial.outcome == Outcome::kMeasured && trial.timing.time_us > 0.0; }

std::map<std::string, std::int64_t> outcomes_of(const Indexed& index, const ProblemRecord& problem) {
  if (!problem.outcomes.empty()) return problem.outcomes;
  std::map<std::string, std::int64_t> outcomes;
  for (const TrialRecord* trial : index.trials_of(problem))
    if (!trial->is_final) ++outcomes[std::string(name_of(trial->outcome))];
  return outcomes;
}

void fill_counts(const Indexed& index, const ProblemRecord& problem, Row& row) {
  row.enumerated = problem.enumerated;
  row.not_visited = problem.not_visited;
  row.reused = problem.reused;
  for (const auto& [why, count] : problem.rejected) row.rejected += count;
  std::int64_t failed = 0;
  for (const auto& [outcome, count] : outcomes_of(index, problem)) {
    if (outcome == name_of(Outcome::kMeasured)) {
      row.measured += count;
    } else if (outcome == name_of(Outcome::kRejected)) {
      row.rejected += count;
    } else {
      row.failed[outcome] += count;
      failed += count;
    }
  }
  const std::int64_t left = row.enumerated - row.rejected - row.measured - failed;
  if (!index.session_of(problem).complete && left >= 0) row.not_visited = left;  // it never came to say so
  if (left != row.not_visited)
    row.warnings.push_back(fmt::format("counts do not add up: {} of {} variants are accounted for",
                                       row.enumerated - left + row.not_visited, row.enumerated));
}

void fill_timing(const TrialRecord& trial, const model::DeviceFacts& facts, Row& row) {
  row.time_us = trial.timing.time_us;
  if (trial.timing.ci_high_us > 0.0) {
    row.ci_low_us = trial.timing.ci_low_us;
    row.ci_high_us = trial.timing.ci_high_us;
    row.ci_level = trial.timing.ci_level;
  }
  row.n = trial.timing.n;
  row.timer = name_of(trial.samples.timer);
  row.cache_state = name_of(trial.samples.cache_state);
  if (row.default_time_us) row.speedup_vs_default = *row.default_time_us / *row.time_us;
  if (!row.bytes) return;
  row.gbps = 1e-3 * static_cast<double>(*row.bytes) / *row.time_us;  // a byte a microsecond is 10^6 bytes a second
  if (facts.spec_gbps > 0.0) row.pct_spec = 100.0 * *row.gbps / facts.spec_gbps;
}

/// The default's time: of the second timing where it has one.
const TrialRecord* default_of(const std::vector<const TrialRecord*>& trials, const ProblemRecord& problem) {
  const TrialRecord* found = nullptr;
  for (const TrialRecord* trial : trials)
    if (is_timed(*trial) && (trial->is_default || trial->variant == problem.default_variant) &&
        (found == nullptr || trial->is_final >= found->is_final))
      found = trial;
  return found;
}

/// The trial of the winner that the sweep named, of its last timing.
const TrialRecord* named_winner(const std::vector<const TrialRecord*>& trials, const ProblemRecord& problem) {
  const TrialRecord* found = nullptr;
  if (problem.winner.values.empty()) return found;
  for (const TrialRecord* trial : trials)
    if (is_timed(*trial) && trial->variant == problem.winner &&
        (found == nullptr || trial->is_final >= found->is_final))
      found = trial;
  return found;
}

/// The winner as named; else the fastest, of the second timing if anything was timed twice. A variant timed twice over
/// counts by its last time.
const TrialRecord* winner_of(const std::vector<const TrialRecord*>& trials, const ProblemRecord& problem) {
  if (const TrialRecord* named = named_winner(trials, problem)) return named;
  std::map<std::string, const TrialRecord*> finals;
  for (const TrialRecord* trial : trials)
    if (trial->is_final && is_timed(*trial)) finals[trial->variant.text()] = trial;
  const auto faster = [](const TrialRecord* a, const TrialRecord* b) {
    return b == nullptr || a->timing.time_us < b->timing.time_us ||
           (a->timing.time_us == b->timing.time_us && a->id < b->id);
  };
  const TrialRecord* winner = nullptr;
  for (const auto& [variant, trial] : finals)
    if (faster(trial, winner)) winner = trial;
  if (winner != nullptr) return winner;
  for (const TrialRecord* trial : trials)
    if (is_timed(*trial) && faster(trial, winner)) winner = trial;
  return winner;
}

/// What is known of the row's timer; the first timer's where it has none.
const model::TimerRow& timer_of(const Row& row) {
  return model::row_of(model::parse_timer(row.timer).value_or(model::Timer::kEvents));
}

/// What a reader should know before he compares the figure. Where all the traffic fits in L2 a rate is not the
/// memory's.
void add_labels(const model::DeviceFacts& facts, Row& row) {
  if (facts.kind == "cpu") row.warnings.emplace_back("a time of this host's CPU: it says nothing of a GPU");
  if (facts.kind == "fake") row.warnings.emplace_back("a scripted time of a fake device");
  if (facts.kind == "cpu" || facts.l2_bytes <= 0 || !row.bytes || !row.time_us) return;
  const bool kept = row.cache_state == name_of(model::CacheState::kWarm) || !timer_of(row).evicts;
  if (kept && *row.bytes < kResidentL2 * facts.l2_bytes)
    row.warnings.push_back(fmt::format("cache-resident: it moves less than {} × L2 ({}), so L2 may serve part of it",
                                       kResidentL2, format_bytes(facts.l2_bytes)));
  else if (!kept && *row.bytes <= facts.l2_bytes && row.bytes_written && *row.bytes_written * 10 > *row.bytes)
    row.warnings.push_back(
        fmt::format("smaller than L2 ({}): what it writes may stay there, not timed", format_bytes(facts.l2_bytes)));
}

bool is_counted(const model::TrafficRecord& traffic) { return traffic.dram_read >= 0 && traffic.dram_written >= 0; }

/// What of the model's bytes DRAM moved. Below a few times L2 what stays there blurs the comparison.
void check_traffic(const model::DeviceFacts& facts, const model::TrafficRecord& traffic, const std::string& whose,
                   Row& row) {
  if (!is_counted(traffic) || !row.bytes || *row.bytes <= kTrafficL2 * facts.l2_bytes) return;
  const double ratio = static_cast<double>(traffic.dram_read + traffic.dram_written) / static_cast<double>(*row.bytes);
  if (ratio < kLeastTraffic || ratio > kMostTraffic)
    row.warnings.push_back(fmt::format(
        "traffic: {} moves {:.2f} × the model's bytes in DRAM: traffic wasted or model wrong", whose, ratio));
}

void fill_traffic(const model::DeviceFacts& facts, const TrialRecord& winner, const TrialRecord* the_default,
                  Row& row) {
  if (is_counted(winner.traffic)) {
    row.dram_read = winner.traffic.dram_read;
    row.dram_written = winner.traffic.dram_written;
    if (row.bytes)
      row.dram_ratio = static_cast<double>(*row.dram_read + *row.dram_written) / static_cast<double>(*row.bytes);
  } else if (!winner.traffic.why_not.empty()) {
    row.warnings.push_back("counters: " + winner.traffic.why_not);
  }
  check_traffic(facts, winner.traffic, "the winner", row);
  if (the_default == nullptr || !is_counted(the_default->traffic)) return;
  row.default_dram_read = the_default->traffic.dram_read;
  row.default_dram_written = the_default->traffic.dram_written;
  if (the_default->variant != winner.variant) check_traffic(facts, the_default->traffic, "the default", row);
}

void append(const std::vector<std::string>& from, std::vector<std::string>& to) {
  for (const std::string& text : from)
    if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
}

}  // namespace

Indexed::Indexed(const model::Dataset& dataset) : dataset_(dataset) {
  for (const SessionRecord& session : dataset.sessions) sessions_[session.id] = &session;
  for (const TrialRecord& trial : dataset.trials) trials_[trial.problem].push_back(&trial);
  for (auto& [problem, trials] : trials_)
    std::stable_sort(trials.begin(), trials.end(),
                     [](const TrialRecord* a, const TrialRecord* b) { return a->id < b->id; });
}

const SessionRecord& Indexed::session_of(const ProblemRecord& problem) const {
  static const SessionRecord kUnknown;
  const auto at = sessions_.find(problem.session);
  return at == sessions_.end() ? kUnknown : *at->second;
}

const std::vector<const TrialRecord*>& Indexed::trials_of(const ProblemRecord& problem) const {
  static const std::vector<const TrialRecord*> kNone;
  const auto at = trials_.find(problem.id);
  return at == trials_.end() ? kNone : at->second;
}

std::vector<const ProblemRecord*> Indexed::newest() const {
  std::vector<const ProblemRecord*> problems;
  for (const ProblemRecord& problem : dataset_.problems)
    if (!trials_of(problem).empty() || !problem.outcomes.empty()) problems.push_back(&problem);
  std::stable_sort(problems.begin(), problems.end(), [this](const ProblemRecord* a, const ProblemRecord* b) {
    const auto& date_a = session_of(*a).date;
    const auto& date_b = session_of(*b).date;
    return date_a != date_b ? date_a > date_b : a->session != b->session ? a->session > b->session : a->id > b->id;
  });
  model::NewestPick pick;
  std::erase_if(problems, [&](const ProblemRecord* problem) {
    const model::DeviceFacts& device = session_of(*problem).device;
    std::string timing;
    for (const TrialRecord* trial : trials_of(*problem))
      if (timing.empty() && is_timed(*trial))
        timing = fmt::format("{} {}", name_of(trial->samples.timer), name_of(trial->samples.cache_state));
    const std::string subject = problem->op + '\n' + problem->problem.text() + '\n' + device.kind + '\n' + device.name;
    return !pick.offer(subject, timing);
  });
  return problems;
}

std::string cache_text(const Row& row) { return fmt::format("{} {}", row.cache_state, timer_of(row).cache); }

Row problem_row(const Indexed& index, const ProblemRecord& problem) {
  const SessionRecord& session = index.session_of(problem);
  Row row;
  row.op = problem.op;
  row.problem = problem.problem;
  row.device = device_name(session.device);
  row.default_variant = problem.default_variant;
  if (problem.cost.bytes() > 0) {
    row.bytes = problem.cost.bytes();
    row.bytes_read = problem.cost.bytes_read;
    row.bytes_written = problem.cost.bytes_written;
  }
  if (problem.cost.launches > 0) row.launches = problem.cost.launches;
  row.power_limit_w = session.device.power_limit_w;
  row.session = problem.session;
  row.spec_hash = problem.spec_hash;
  row.commit = session.commit;
  row.driver = session.device.driver;
  row.toolkit = session.device.toolkit;
  row.date = session.date;
  if (const TrialRecord* trial = default_of(index.trials_of(problem), problem))
    row.default_time_us = trial->timing.time_us;
  fill_counts(index, problem, row);
  return row;
}

std::int64_t failed_of(const Row& row) {
  return std::accumulate(row.failed.begin(), row.failed.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& entry) { return sum + entry.second; });
}

Row winner_row(const Indexed& index, const ProblemRecord& problem) {
  Row row = problem_row(index, problem);
  const SessionRecord& session = index.session_of(problem);
  const bool adds_up = row.warnings.empty();
  if (!session.complete && row.not_visited > 0)
    row.warnings.emplace_back("the sweep did not finish: some variants were not visited");
  const TrialRecord* winner = winner_of(index.trials_of(problem), problem);
  if (winner == nullptr) {
    row.warnings.emplace_back("nothing was measured: see ktune report --explain OP PROBLEM");
    return row;
  }
  if (session.complete && row.not_visited > 0 && adds_up)  // where nothing was measured it may be another reason
    row.warnings.emplace_back("some variants were not visited: the budget ended the sweep");
  row.variant = winner->variant;
  row.outcome = name_of(winner->outcome);
  row.trial = winner->id;
  fill_timing(*winner, session.device, row);
  if (!winner->is_final && row.measured > 1)
    row.warnings.emplace_back("not timed again: this time took part in choosing the winner, so it flatters it");
  row.tie_set = problem.tie_set;
  append(winner->warnings, row.warnings);
  add_labels(session.device, row);
  fill_traffic(session.device, *winner, default_of(index.trials_of(problem), problem), row);
  return row;
}

Row trial_row(Row row, const model::DeviceFacts& device, const TrialRecord& trial) {
  row.variant = trial.variant;
  row.outcome = name_of(trial.outcome);
  row.trial = trial.id;
  if (is_timed(trial)) fill_timing(trial, device, row);
  if (trial.is_final) row.warnings.emplace_back("second timing");
  if (!trial.reason.empty()) row.warnings.push_back(trial.reason);
  append(trial.warnings, row.warnings);
  add_labels(device, row);
  return row;
}

}  // namespace ktune::report
