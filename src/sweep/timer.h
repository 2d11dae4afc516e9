#pragma once

#include <cstdint>
#include <string>

#include "model/facts.h"
#include "model/outcome.h"
#include "model/timing.h"
#include "sweep/sweep.h"
#include "trial/bench.h"

namespace ktune::sweep {

/// Below this by events, `auto` takes CUPTI's kernel records: an event pair's own cost and lattice would be a large
/// part.
inline constexpr double kCuptiBelowUs = 20.0;

/// What `auto` decided from one verified variant, and why; no timer: the variant could not be timed at all.
struct TimerChoice {
  std::string timer;
  std::string why;
  model::Failure failure;
};

/// Decides between the timers of the bench's device from a variant that is loaded and verified: on a GPU by its time
/// by events, elsewhere the first that the device offers.
TimerChoice choose_timer(trial::Bench& bench, std::int64_t variant, const model::DeviceFacts& facts,
                         model::CacheState cache_state);

/// True where `auto` has a choice to make: elsewhere it is the first timer the device offers.
bool auto_decides(const model::DeviceFacts& facts, const Options& options);
/// The timer as a fingerprint names it: what `auto` decided on is told from what was asked for.
std::string timer_part(const model::DeviceFacts& facts, const Options& options, const std::string& timer);

}  // namespace ktune::sweep
