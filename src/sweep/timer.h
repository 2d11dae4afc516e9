#pragma once

#include <cstdint>
#include <string>

#include "model/facts.h"
#include "model/outcome.h"
#include "model/timing.h"
#include "trial/worker.h"

namespace ktune::sweep {

/// What `auto` decided from one verified variant, and why.
struct TimerChoice {
  model::Timer timer = model::Timer::kEvents;
  std::string why;
};

/// Decides between the timers of the worker's device (model::auto_timers) from a variant that is loaded and verified:
/// by its time by the first of them where there is a choice, elsewhere the first that the device offers. A failure: the
/// variant could not be timed at all.
model::Result<TimerChoice> choose_timer(trial::Worker& worker, std::int64_t variant, const model::DeviceFacts& facts,
                                        model::CacheState cache_state);

}  // namespace ktune::sweep
