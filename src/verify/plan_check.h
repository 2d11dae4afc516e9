#pragma once

#include <vector>

#include "model/outcome.h"
#include "model/plan.h"

namespace ktune::verify {

/// kRejected for tensors that contradict themselves: shape and strides of different length, a size below 1, a negative
/// stride or offset, storage that does not reach the last element or is beyond any memory, a name used twice.
model::Status check_tensors(const std::vector<model::TensorPlan>& tensors);

}  // namespace ktune::verify
