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

}  // namespace ktune::trial
