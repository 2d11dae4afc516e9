#pragma once

#include <map>
#include <string>
#include <vector>

#include "measure/series.h"
#include "sweep/compile_ahead.h"
#include "sweep/decide.h"
#include "sweep/finalists.h"
#include "sweep/policy.h"
#include "sweep/sampler.h"
#include "sweep/trial_book.h"

// The second timing. Choosing the fastest of many noisy times names a time that is too good and, often, a variant that
// is not the best: of 60 variants within 10 % at a run-to-run sd of 2 %, one pass picks one 0.87 % worse than the best
// and reports 3.5 % too little (simulated). So the best few and the default are timed again in rounds, each once a
// round, forwards and backwards in turn; decide.h names the tie set and the winner. Then winner and default are timed a
// last time, and only those samples are reported: they took no part in choosing.

namespace ktune::sweep {

/// The finals of one problem. Once begun they end with a winner, unless every finalist fails or Ctrl-C comes: where the
/// budget is used up meanwhile, the winner is chosen from fewer rounds, and its trial says so.
class Finals {
 public:
  Finals(const Context& context, const Recipes& recipes, CompileAhead& compiles, Sampler& sampler, TrialBook& book,
         const MeasurePolicy& policy);

  /// Names the problem's winner in the book, from what is measured there: by an earlier choice among the same
  /// finalists, or by timing them.
  void run();

 private:
  struct Finalist {
    Candidate candidate;
    std::vector<double> rounds = {};
    double cost_us = 0.0;
    bool failed = false;
  };

  std::map<std::string, std::string> parts(search::VariantId id) const;
  bool take_over_earlier();
  model::Result<measure::Measurement> sample(Finalist& finalist, int samples);
  bool time_round(int round);
  void time_rounds();
  std::vector<Contender> contenders() const;
  void name_winner();
  bool last_round(Finalist& winner, Finalist& the_default);
  void store(const Finalist& finalist, const measure::Series& series);

  const Context& context_;
  const Recipes& recipes_;
  CompileAhead& compiles_;
  Sampler& sampler_;
  TrialBook& book_;
  MeasurePolicy policy_;
  model::Variant previous_winner_;
  std::vector<Candidate> chosen_;
  std::vector<Finalist> finalists_;
  std::string doubt_;  ///< a warning: what the rounds that chose the winner lacked
};

}  // namespace ktune::sweep
