#pragma once

#include <string>
#include <vector>

#include "base/notices.h"
#include "model/facts.h"
#include "model/provenance.h"
#include "model/record.h"
#include "model/timing.h"

namespace ktune::probe {

/// `ktune roofline`: what to measure.
struct RooflineOptions {
  std::string device;  ///< as sweep::device_facts resolved it
  std::vector<model::CacheState> caches{model::CacheState::kCold};
  std::vector<model::TimerRequest> timers;  ///< none: those a sweep's `auto` chooses from
  bool quick = false;                       ///< fewer sizes, shorter trials
  int jobs = 0;                             ///< compile processes, 0: one a core
  model::Provenance provenance;
  Notices notices;
};

struct Roofline {
  std::vector<model::FitRecord> fits;
  std::vector<std::string> notes;  ///< what was not fitted, and why
};

/// Sweeps the ladder of sizes of each mix, once for each cache state and timer, and stores sessions and fits. Throws
/// Error(kNoData) where nothing could be fitted, Error(kEnvironment) where a timer that was named gives nothing, and
/// Error(kInterrupted), and what opening `database` throws.
Roofline measure_roofline(const RooflineOptions& options, const model::DeviceFacts& facts, const std::string& database);

}  // namespace ktune::probe
