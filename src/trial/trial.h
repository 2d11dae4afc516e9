#pragma once

#include <cstdint>

#include "model/outcome.h"
#include "model/plan.h"
#include "model/record.h"
#include "trial/worker.h"

namespace ktune::trial {

/// One trial of a compiled variant on the worker's current problem: load, verify, measure, unload. Fills outcome,
/// reason, detail, the verification's margin, samples, their summary, the machine's state before and after, warnings,
/// what the binary says of itself and the date; whose trial it is the caller knows. `keep_loaded` leaves a measured
/// variant in the worker, to be measured again in turn with others.
model::TrialRecord run_trial(Worker& worker, std::int64_t id, const model::VariantPlan& plan,
                             const model::KernelBinary& binary, const MeasureRequest& request,
                             bool keep_loaded = false);

/// The record of a variant that never came to a worker: its compile failed.
model::TrialRecord failed_trial(const model::Failure& failure);

/// Measures a loaded and verified variant once more, in the same form.
model::TrialRecord measure_again(Worker& worker, std::int64_t id, const MeasureRequest& request);

}  // namespace ktune::trial
