#pragma once

#include <cstdint>

#include "model/outcome.h"
#include "model/plan.h"
#include "model/record.h"
#include "trial/bench.h"

namespace ktune::trial {

/// Says in the record why it was not measured.
void set_failure(model::TrialRecord& record, const model::Failure& failure);
/// The record of a trial that was measured: outcome, samples and their summary, the machine before and after, warnings.
void set_measured(model::TrialRecord& record, measure::Measurement measurement);

/// The first half of a trial: loads a compiled variant and verifies it. Fills in what the binary says of itself, the
/// verification's margin and, where it fails, the outcome with reason and detail. True: it may be measured.
bool load_and_verify(Bench& bench, std::int64_t id, const model::VariantPlan& plan, const model::KernelBinary& binary,
                     model::TrialRecord& record);

/// One trial of a compiled variant on the bench's current problem: load, verify, measure, unload. Fills in `record`
/// the outcome, its reason and detail, the verification's margin, the samples and their summary, the machine's state
/// before and after, warnings, and what the binary says of itself; whose trial it is the caller has put there.
/// `keep_loaded` leaves a measured variant on the bench, to be measured again in turn with others.
void run_trial(Bench& bench, std::int64_t id, const model::VariantPlan& plan, const model::KernelBinary& binary,
               const MeasureRequest& request, model::TrialRecord& record, bool keep_loaded = false);

}  // namespace ktune::trial
