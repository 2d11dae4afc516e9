#include "verdict/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "stats/stats.h"
#include "verdict/pairs.h"
#include "verdict/signal.h"

namespace ktune::verdict {
namespace {

/// A kernel's figures; shifts are ln(candidate / base).
struct Evidence {
  Round first, fresh;
  std::vector<double> pooled;  ///< shifts of both rounds
  stats::Interval interval;    ///< of pooled
  double delta = 0.0;          ///< as a logarithm
  double pair_sd = 0.0;

  double visible(std::size_t pairs) const { return visible_of(delta, pair_sd, pairs); }
  Signal signal(const Round& round, const Rules& rules) const {
    return signal_of(round.shifts, visible(round.shifts.size()), rules.alpha);
  }
};

Evidence read_evidence(const model::Comparison& comparison, double pair_sd, const Rules& rules) {
  Evidence evidence{read_round(comparison.pairs), read_round(comparison.fresh_pairs), {}, {}, 0.0, pair_sd};
  evidence.pooled = evidence.first.shifts;
  evidence.pooled.insert(evidence.pooled.end(), evidence.fresh.shifts.begin(), evidence.fresh.shifts.end());
  if (!evidence.pooled.empty()) evidence.interval = stats::hodges_lehmann_interval(evidence.pooled, rules.level);
  evidence.delta = delta_of(evidence.first.base_us, rules);
  return evidence;
}

/// Why a round of `run` pairs decides nothing; "": it does.
std::string fault_of(const Round& round, std::size_t run, const Rules& rules) {
  if (round.timed < rules.pairs) {
    if (round.untimed.empty()) return fmt::format("{} of {} pairs were run", run, rules.pairs);
    return fmt::format("{} of {} pairs have times: {}", round.timed, rules.pairs, round.untimed);
  }
  if (5 * round.throttled > round.timed) {
    return fmt::format("the device held its clock down in {} of {} pairs", round.throttled, round.timed);
  }
  if (decidable(round.shifts.size(), rules)) return {};
  std::size_t enough = round.shifts.size();
  while (!decidable(enough, rules)) ++enough;
  return fmt::format("{} pairs cannot reach p <= {} and an interval of {}: it takes {}", round.shifts.size(),
                     rules.alpha, percent_text(100.0 * rules.level), enough);
}

std::string describe(const model::Failure& failure) {
  return std::string(name_of(failure.outcome)) + (failure.reason.empty() ? "" : ": " + failure.reason);
}

/// What needs no times: both sides must be there and run. nullopt: the figures decide.
std::optional<std::pair<Verdict, std::string>> verdict_without_times(const model::Comparison& comparison) {
  const model::ComparedSide& base = comparison.base;
  const model::ComparedSide& candidate = comparison.candidate;
  if (candidate.missing) {
    return std::pair(Verdict::kNoData, base.missing ? "neither version has it" : candidate.label + " has it no more");
  }
  if (candidate.failure) {
    return std::pair(Verdict::kWrong,
                     describe(*candidate.failure) + (base.failure ? " (base does not run either)" : ""));
  }
  if (base.missing) return std::pair(Verdict::kNoData, "new in " + candidate.label + ": nothing to compare with");
  if (base.failure) return std::pair(Verdict::kNoData, "base does not run: " + describe(*base.failure));
  if (comparison.identical)
    return std::pair(Verdict::kPass, std::string("identical machine code, verified, not timed"));
  if (!comparison.timer) return std::pair(Verdict::kInconclusive, std::string("no timer served both versions"));
  return std::nullopt;
}

Row describe_row(const model::Comparison& comparison) {
  Row row;
  row.op = comparison.op;
  row.problem = comparison.problem;
  row.base_variant = comparison.base.variant.text();
  row.candidate_variant = comparison.candidate.variant.text();
  row.source = comparison.candidate.source;
  if (comparison.timer) row.timer = name_of(*comparison.timer);
  row.cache_state = comparison.cache_state;
  row.identical = comparison.identical;
  row.blocks = !(comparison.base.missing && !comparison.candidate.missing);
  return row;
}

void fill_figures(Row& row, const model::Comparison& comparison, const Evidence& evidence) {
  std::vector<double> base_us;
  for (const auto* pairs : {&comparison.pairs, &comparison.fresh_pairs}) {
    for (const model::FigurePair& pair : *pairs) {
      row.base_figures_us.push_back(pair.base.time_us);
      row.candidate_figures_us.push_back(pair.candidate.time_us);
      if (std::isfinite(pair.base.time_us)) base_us.push_back(pair.base.time_us);
    }
  }
  row.pairs = static_cast<int>(row.base_figures_us.size());
  if (!base_us.empty()) row.base_us = stats::median(base_us);
  if (evidence.first.shifts.empty()) return;
  row.delta_pct = percent_of(evidence.delta);
  row.visible_pct = percent_of(evidence.visible(evidence.first.shifts.size()));
  row.p_slower = stats::signed_rank_p(evidence.first.shifts);
  const double shift = stats::hodges_lehmann(evidence.pooled);
  row.shift_pct = percent_of(shift);
  row.candidate_us = row.base_us * std::exp(shift);
  row.low_pct = percent_of(evidence.interval.low);
  row.high_pct = percent_of(evidence.interval.high);
}

/// "shifts below 4.1 % cannot be seen here: a pair of processes varies by 1.8 %; --pairs 32 would show 2 %"
std::string describe_noise(const Evidence& evidence) {
  const std::size_t pairs = evidence.first.shifts.size();
  std::string text =
      fmt::format("shifts below {} cannot be seen here: a pair of processes varies by {}",
                  percent_text(percent_of(evidence.visible(pairs))), percent_text(percent_of(evidence.pair_sd)));
  constexpr std::size_t kMostPairs = 64;  // more take longer than a person waits
  std::size_t enough = pairs;
  while (enough < kMostPairs && evidence.visible(enough) > evidence.delta) ++enough;
  if (enough == pairs) return text;
  return text + fmt::format("; --pairs {} would show {}", enough, percent_text(percent_of(evidence.visible(enough))));
}

std::string signed_text(const Round& round) {
  const double percent = percent_of(stats::hodges_lehmann(round.shifts));
  return (percent > 0.0 ? "+" : "") + percent_text(percent);
}

/// What the rounds disagree about; "": nothing.
std::string describe_rounds(const Evidence& evidence, Signal first, Signal fresh) {
  if (first == Signal::kQuiet && fresh == Signal::kQuiet) return {};
  if (evidence.fresh.shifts.empty()) return signed_text(evidence.first) + ", no second round has confirmed it";
  return fmt::format("{} in the first round, {} in the second: not confirmed", signed_text(evidence.first),
                     signed_text(evidence.fresh));
}

void decide(Row& row, const Evidence& evidence, const Rules& rules) {
  const Signal first = evidence.signal(evidence.first, rules);
  const Signal fresh = evidence.signal(evidence.fresh, rules);
  row.confirmed = first != Signal::kQuiet && first == fresh;
  if (row.confirmed) {
    row.verdict = first == Signal::kSlower ? Verdict::kRegressed : Verdict::kImproved;
    return;
  }
  row.reason = describe_rounds(evidence, first, fresh);
  if (evidence.interval.high < evidence.delta) {
    row.verdict = Verdict::kPass;
    return;
  }
  row.verdict = Verdict::kInconclusive;
  if (!row.reason.empty()) row.reason += "; ";
  if (evidence.visible(evidence.first.shifts.size()) > evidence.delta) {
    row.reason += describe_noise(evidence);
  } else {
    row.reason += fmt::format("the shift may be as large as {}, and {} matters", percent_text(row.high_pct),
                              percent_text(row.delta_pct));
  }
}

}  // namespace

void check(const Rules& rules) {
  auto refuse = [](std::string what, std::string hint) {
    throw Error(ErrorKind::kUsage, std::move(what), std::move(hint));
  };
  if (!(rules.delta_pct > 0.0) || !std::isfinite(rules.delta_pct)) {
    refuse(fmt::format("a shift of {} % cannot be what matters", rules.delta_pct), "delta is a percentage above 0");
  }
  if (!(rules.delta_us >= 0.0) || !std::isfinite(rules.delta_us)) {
    refuse(fmt::format("a shift of {} µs cannot be what matters", rules.delta_us), "delta is in µs, 0 or more");
  }
  if (rules.delta_pct > 100.0) {
    refuse(fmt::format("a delta of {} % lets anything by", rules.delta_pct), "at most 100; 1 is usual");
  }
  if (rules.delta_us > 1e6) refuse(fmt::format("a delta of {} µs lets anything by", rules.delta_us), "0.15 is usual");
  if (rules.pairs < 1) refuse(fmt::format("{} pairs of processes compare nothing", rules.pairs), "8 is usual");
  if (!(rules.alpha > 0.0 && rules.alpha < 1.0)) {
    refuse(fmt::format("alpha {} is no probability", rules.alpha), "it lies between 0 and 1; 0.02 is usual");
  }
  if (!(rules.level > 0.0 && rules.level < 1.0)) {
    refuse(fmt::format("level {} is no probability", rules.level), "it lies between 0 and 1; 0.95 is usual");
  }
}

Need need_of(const model::Comparison& comparison, double pair_sd, const Rules& rules) {
  if (verdict_without_times(comparison)) return Need::kNothing;
  const Evidence evidence = read_evidence(comparison, pair_sd, rules);
  if (!fault_of(evidence.first, comparison.pairs.size(), rules).empty()) return Need::kNothing;
  if (evidence.signal(evidence.first, rules) != Signal::kQuiet) return Need::kConfirm;
  return evidence.interval.high < evidence.delta ? Need::kNothing : Need::kMore;
}

Row judge(const model::Comparison& comparison, double pair_sd, const Rules& rules) {
  Row row = describe_row(comparison);
  if (auto settled = verdict_without_times(comparison)) {
    std::tie(row.verdict, row.reason) = std::move(*settled);
    return row;
  }
  const Evidence evidence = read_evidence(comparison, pair_sd, rules);
  fill_figures(row, comparison, evidence);
  if (evidence.first.timed == 0) {
    row.reason = comparison.pairs.empty() ? "it was not timed" : "no pair has two times: " + evidence.first.untimed;
    return row;
  }
  row.verdict = Verdict::kInconclusive;
  row.reason = fault_of(evidence.first, comparison.pairs.size(), rules);
  if (row.reason.empty() && !comparison.fresh_pairs.empty()) {
    row.reason = fault_of(evidence.fresh, comparison.fresh_pairs.size(), rules);
    if (!row.reason.empty()) row.reason = "second round: " + row.reason;
  }
  if (row.reason.empty()) decide(row, evidence, rules);
  return row;
}

std::vector<Row> judge_all(std::span<const model::Comparison> comparisons, const Rules& rules,
                           const std::optional<model::ProcessNoise>& stored) {
  check(rules);
  const PairNoise noise(comparisons, stored);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < comparisons.size(); ++i) rows.push_back(judge(comparisons[i], noise.sd_of(i), rules));
  return rows;
}

double detectable_pct(double pair_sd, double delta_pct, int pairs, double probability) {
  if (pairs < 1 || !decidable(static_cast<std::size_t>(pairs), Rules{})) return kNone;
  // The Hodges-Lehmann estimate of normal values has √(π/3) times the error of their mean.
  const double error = pair_sd / std::sqrt(pairs);
  const double each_round = std::sqrt(probability);
  const double margin = stats::normal_quantile(each_round) * std::sqrt(std::acos(-1.0) / 3.0) * error;
  return percent_of(std::max(std::log1p(delta_pct / 100.0), kVisibleErrors * error) + margin);
}

}  // namespace ktune::verdict
