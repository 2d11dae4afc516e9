#pragma once

#include <cstdint>
#include <string>

#include "model/facts.h"
#include "model/outcome.h"
#include "model/timing.h"
#include "sweep/sweep.h"
#include "trial/bench.h"

namespace ktune::sweep {

/// What `auto` decided from one verified variant, and why.
struct TimerChoice {
  model::Timer timer = model::Timer::kEvents;
  std::string why;
};

/// Decides between the timers of the bench's device (model::auto_timers) from a variant that is loaded and verified:
/// by its time by the first of them where there is a choice, elsewhere the first that the device offers. A failure: the
/// variant could not be timed at all.
model::Result<TimerChoice> choose_timer(trial::Bench& bench, std::int64_t variant, const model::DeviceFacts& facts,
                                        model::CacheState cache_state);

/// True where `auto` has a choice to make: elsewhere it is the first timer the device offers.
bool auto_decides(const model::DeviceFacts& facts, const Options& options);
/// The timer as a fingerprint names it: what `auto` decided on is told from what was asked for.
std::string timer_part(const model::DeviceFacts& facts, const Options& options, const model::TimerRequest& timer);

}  // namespace ktune::sweep
