#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "measure/series.h"
#include "sweep/compile_ahead.h"
#include "sweep/race.h"
#include "sweep/sampler.h"
#include "sweep/trial_book.h"

namespace ktune::sweep {

/// The verified variants that are on the bench at once and take blocks of samples in turn, so that a drift of the
/// machine meets them alike. Each leaves when race.h says so, or when it fails, and its trial is entered in the book.
class Heat {
 public:
  Heat(const Context& context, Sampler& sampler, TrialBook& book, const RacePolicy& policy);

  bool has_room() const;
  /// True if no variant is in the heat and none waits for room.
  bool is_empty() const { return runners_.empty() && postponed_.empty(); }
  /// Loads and verifies a variant and takes its first block. One that the device rejects beside the others (their
  /// scratch memory) waits until it can be tried alone.
  void enter(Compiled compiled);
  /// Lets in one that waits, if it is alone.
  void enter_postponed();
  /// One block of each. `goes_on` is called before each block; false ends the round.
  void run_round(const std::function<bool()>& goes_on);
  /// An earlier trial's interval counts for who is out.
  void note(const model::TrialRecord& earlier);
  /// Ends the heat: what has its share of samples is kept, the rest is not visited.
  void stop();

 private:
  struct Runner {
    search::VariantId id = 0;
    model::KernelBinary binary;
    model::TrialRecord trial;
    measure::Series series;
    bool done = false;
  };

  void take_block(Runner& runner);
  void finish(Runner& runner);
  void note_interval(const model::TimingSummary& timing, bool inconclusive);

  const Context& context_;
  Sampler& sampler_;
  TrialBook& book_;
  RacePolicy policy_;
  std::vector<Runner> runners_;
  std::deque<Compiled> postponed_;
  double best_high_us_ = 0.0;  ///< the least upper interval end so far; 0: there is none
};

}  // namespace ktune::sweep
