#pragma once

#include <cstdint>
#include <utility>

#include "trial/trial.h"

namespace ktune::trial {

/// One trial of a compiled variant on the bench's current problem: load, verify, measure, unload. Fills in `record`
/// the outcome, its reason and detail, the verification's margin, the samples and their summary, the machine's state
/// before and after, warnings, and what the binary says of itself; whose trial it is the caller has put there.
/// `keep_loaded` leaves a measured variant on the bench, to be measured again in turn with others.
inline void run_trial(Bench& bench, std::int64_t id, const model::VariantPlan& plan, const model::KernelBinary& binary,
                      const measure::Request& request, model::TrialRecord& record, bool keep_loaded = false) {
  if (!load_and_verify(bench, id, plan, binary, record)) return;
  model::Result<measure::Measurement> measurement = bench.measure(id, request);
  if (measurement)
    set_measured(record, std::move(*measurement));
  else
    set_failure(record, measurement.error());
  if (!keep_loaded || record.outcome != model::Outcome::kMeasured) bench.unload(id);
}

}  // namespace ktune::trial
