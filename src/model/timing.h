#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/timer.h"

namespace ktune::model {

/// State of L2 at the timed launch. cold: evicted and left clean; dirty: 2×L2 just written, as do_bench leaves it;
/// warm: whatever the previous launch of the same variant left.
enum class CacheState : std::uint8_t { kCold, kDirty, kWarm };
std::string_view name_of(CacheState state);  ///< "cold", "dirty", "warm"
std::optional<CacheState> parse_cache_state(std::string_view name);
inline std::optional<CacheState> parse_as(CacheState, std::string_view name) { return parse_cache_state(name); }

/// One timed batch of a variant, in microseconds, in the order taken.
struct Samples {
  std::vector<double> time_us;
  Timer timer = Timer::kEvents;
  CacheState cache_state = CacheState::kCold;
};

/// A summary of samples. Interval: distribution-free, order statistics of the median.
struct TimingSummary {
  double time_us = 0.0;  ///< median
  double mean_us = 0.0;  ///< 20 % trimmed mean
  double min_us = 0.0;
  double p10_us = 0.0;
  double p90_us = 0.0;
  double ci_low_us = 0.0;
  double ci_high_us = 0.0;
  double ci_level = 0.95;
  int n = 0;

  static void fields(auto& self, auto&& field) {
    field("time_us", self.time_us);
    field("mean_us", self.mean_us);
    field("min_us", self.min_us);
    field("p10_us", self.p10_us);
    field("p90_us", self.p90_us);
    field("ci_low_us", self.ci_low_us);
    field("ci_high_us", self.ci_high_us);
    field("ci_level", self.ci_level);
    field("n", self.n);
  }
};

}  // namespace ktune::model
