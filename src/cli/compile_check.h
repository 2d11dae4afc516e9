#pragma once

#include <string>
#include <vector>

#include "cli/selection.h"
#include "sweep/check.h"

namespace ktune::cli {

/// `ktune verify --compile-only`: compiles by NVRTC for each target ("sm_90"), with no device. For the first target
/// every variant of the first problem (a seeded sample of 200 where there are more) and the default of every other
/// problem; for the rest the default and one variant of each named path. A default that spills registers is a failure.
/// Prints a table; returns 0 or 1. Throws Error(kUsage) for an unknown target.
int compile_check(const Selection& selection, const sweep::Options& options, const std::vector<std::string>& targets);

/// What a target's devices have at least, where no device is there to ask. Throws Error(kUsage), "did you mean".
model::DeviceFacts target_facts(const std::string& target);

}  // namespace ktune::cli
