#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/record.h"
#include "search/search.h"
#include "sweep/context.h"
#include "sweep/recipes.h"
#include "sweep/timer_decision.h"

namespace ktune::sweep {

/// A variant that was measured, ready to be timed again.
struct Candidate {
  search::VariantId id = 0;
  double time_us = 0.0;
  bool inconclusive = false;  ///< most of its samples are of a throttled device
  model::KernelBinary binary = {};
};

/// A problem's place among the sweep's.
struct Place {
  std::size_t index = 0, count = 1;
};

/// The books of one problem. Every trial goes through here once: into the ledger, into the counts, and to the strategy.
/// What no trial was entered for was not visited.
class TrialBook {
 public:
  /// `record` is in the ledger already.
  TrialBook(const Context& context, const Recipes& recipes, TimerDecision& timer, search::Strategy& strategy,
            model::ProblemRecord record, Place place);

  /// A trial of the variant before anything is known of it.
  model::TrialRecord blank(search::VariantId id);
  /// Enters a trial that was run. `binary`: of a measured one, to time it again.
  void add(search::VariantId id, const model::TrialRecord& trial, model::KernelBinary binary = {});
  /// Enters a variant that never reached the bench.
  void add_unbuilt(search::VariantId id, const model::Failure& failure);
  /// Takes over an earlier trial that depended on the same things, and enters it; nothing: there is none, and with
  /// --explain the user is told what changed.
  std::optional<model::TrialRecord> reuse(search::VariantId id);
  /// The winner and the variants that tie with it.
  void name_winner(const model::Variant& winner, std::vector<model::Variant> tie_set);
  /// Brings the record up to date, in the ledger too.
  void settle();

  void report_progress(bool finals = false) const;
  const std::map<search::VariantId, Candidate>& measured() const { return measured_; }
  const model::ProblemRecord& record() const { return record_; }
  std::int64_t trials_run() const { return trials_run_; }

 private:
  const std::map<std::string, std::string>& parts(search::VariantId id);
  void enter(search::VariantId id, const model::TrialRecord& trial, model::KernelBinary binary);
  std::int64_t entered() const;

  const Context& context_;
  const Recipes& recipes_;
  TimerDecision& timer_;
  search::Strategy& strategy_;
  model::ProblemRecord record_;
  Place place_;
  /// Of variants that are not entered yet: they cost reading every header.
  std::map<search::VariantId, std::map<std::string, std::string>> parts_;
  std::map<model::Outcome, std::int64_t> outcomes_;
  std::map<search::VariantId, Candidate> measured_;
  double best_us_ = 0.0;
  std::int64_t trials_run_ = 0;
};

/// The record of a problem before its first trial: every variant not visited.
model::ProblemRecord unvisited_record(const PreparedProblem& prepared, std::int64_t session);

}  // namespace ktune::sweep
