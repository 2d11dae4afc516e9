#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "model/plan.h"
#include "sweep/trial_book.h"

namespace ktune::sweep {

/// The `most` best of the measured variants, best first, then those of `always` that were measured and are not among
/// them. Inconclusive ones stand only where nothing else was measured.
std::vector<Candidate> choose_finalists(const std::map<search::VariantId, Candidate>& measured, int most,
                                        std::span<const search::VariantId> always);

/// What a block on the multiprocessor holds while it runs, by the largest launch: registers and shared memory.
std::pair<std::int64_t, std::int64_t> resources_used(const model::VariantPlan& plan,
                                                     const std::map<std::string, model::KernelResources>& resources);

}  // namespace ktune::sweep
