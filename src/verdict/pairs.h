#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/comparison.h"

// A round's pairs as what the statistics take: logarithms of ratios.

namespace ktune::verdict {

struct Round {
  /// ln(candidate / base) of each pair that has two times and was not throttled, in order.
  std::vector<double> shifts;
  double base_us = 0.0;  ///< median of those pairs' base; 0 without any
  int timed = 0;         ///< pairs with two times, throttled or not
  int throttled = 0;     ///< of these
  std::string untimed;   ///< the first pair without: "candidate gave no time in pair 3"
};

/// A time that is NaN, infinite, zero or negative is none.
Round read_round(std::span<const model::FigurePair> pairs);

/// 100·(e^x − 1): a logarithm of a ratio as a change in percent.
double percent_of(double shift);

/// For sentences: "4.1 %", "0.35 %", "12 %", "2 %".
std::string percent_text(double percent);

}  // namespace ktune::verdict
