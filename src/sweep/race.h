#pragma once

#include "measure/series.h"
#include "model/timing.h"

// How many samples a variant gets. Each first gets a small block; then it goes on, in turn with others, until it is
// clearly slower than the best, its median is known well enough, or its budget is used. Intervals are of order
// statistics, so nothing is assumed of the distribution; what is out by this rule cannot be among the best few unless
// it is nearly as fast as they are, and then it would not be out.

namespace ktune::sweep {

struct RacePolicy {
  bool race = true;  ///< false: every variant uses its whole budget
  int first_block = 8;
  int min_samples = 20;  ///< of a variant that is not out
  int max_samples = 1000;
  double budget_us = 15000.0;  ///< wall time of sampling
  double block_us = 5000.0;    ///< of a later block
  int block_samples = 64;      ///< at most, of a later block
};

enum class Standing { kGoOn, kOut, kDone };

/// `best_high_us`: the least upper interval end of the problem's variants so far; 0: there is none yet.
Standing judge(const measure::Series& series, double best_high_us, const RacePolicy& policy);

/// Samples of the next block.
int next_block(const measure::Series& series, const RacePolicy& policy);

}  // namespace ktune::sweep
