#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// Who wins. The finalists are timed in rounds, each once a round, so that what disturbs one disturbs its neighbours
// too; a pair is compared round by round. The tie set are those whose difference to the best cannot be told to matter:
// the median difference is less than
//
//     max(1 % of the best, 0.1 µs),
//
// or its distribution-free 95 % interval includes zero.
//
// The second term is what the same binary varies by from process to process on an H200 (sd 0.056 µs at 4 to 11 µs,
// 0.066 at 18 to 33), the first is what variants change places by: of two sweeps of rmsnorm at six shapes, forward and
// reversed, 0.5 % named different winners at two, 65.2 and 65.5 µs apart. A smaller difference would not
// be there in the next process, so it is no reason to prefer a variant. Two of the same speed therefore always tie, and
// two that differ by 2 % at 20 µs never do: both are tested by simulation.
//
// A variant whose difference is about the threshold is in one tie set and not in the next (in two of three pairs of
// sweeps, at one of six shapes, that named another winner). So the winner of before keeps its place up to one and a
// half times the threshold, and the default takes it over only within half of it: between the two nothing changes.

namespace ktune::sweep {

/// A finalist.
struct Contender {
  std::int64_t id = 0;  ///< its place in the space
  bool is_default = false;
  bool won_before = false;          ///< it is the winner of the newest earlier session
  std::int64_t registers = 0;       ///< of a block, in all
  std::int64_t shared_bytes = 0;    ///< of a block
  std::vector<double> rounds = {};  ///< microseconds, one a round, all finalists alike
};

/// Places in the contenders.
struct Choice {
  std::size_t best = 0;  ///< least median of its rounds
  std::size_t winner = 0;
  std::vector<std::size_t> tie_set = {};  ///< in the order of the contenders; holds best and winner
};

/// The difference below which two variants tie, microseconds.
double tie_threshold_us(double best_us);

/// True if `other` cannot be told to be slower than `best` by `share` of the threshold.
bool ties(std::span<const double> best, std::span<const double> other, double share = 1.0);

/// Of the tie set the default wins; else the winner of before, which ties up to 1.5 thresholds and gives way to the
/// default only within half a threshold; else the one that uses fewer registers, then less shared memory; else the
/// first of the space. At least one contender and one round.
Choice choose(std::span<const Contender> contenders);

}  // namespace ktune::sweep
