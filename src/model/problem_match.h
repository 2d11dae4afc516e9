#pragma once

#include <string>

#include "model/op_spec.h"

namespace ktune::model {

/// Whether a problem is meant by what somebody wrote: its text, some words of it in any order ("bf16", "M=64,N=4096"),
/// or its sizes as "64x4096". An empty text means every problem.
bool matches(const Problem& problem, const std::string& asked);

}  // namespace ktune::model
