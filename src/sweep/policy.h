#pragma once

#include "model/facts.h"
#include "sweep/race.h"
#include "sweep/sweep.h"

namespace ktune::sweep {

/// How variants and finalists are sampled on a device.
struct MeasurePolicy {
  RacePolicy race;
  int finalists = 8;
  int rounds = 10;           ///< of the finalists, to choose
  int fewest_rounds = 3;     ///< where the budget is used up meanwhile
  double round_us = 6000.0;  ///< sampling of one finalist in one round
  int round_least = 12;      ///< samples, whatever they cost
  int round_samples = 40;    ///< at most
  int last_blocks = 4;       ///< of winner and default, to report
  double last_us = 45000.0;  ///< sampling of each in all of them
  int last_samples = 1000;   ///< at most
};
MeasurePolicy measure_policy(const model::DeviceFacts& facts, const Options& options);

/// Samples of a finalist in one round, when one costs `cost_us` of wall time (0: not known).
int round_samples(const MeasurePolicy& policy, double cost_us);
/// The same of winner and default in one block of the last round.
int last_block_samples(const MeasurePolicy& policy, double cost_us);

}  // namespace ktune::sweep
