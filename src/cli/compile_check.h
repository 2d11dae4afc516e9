#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "sweep/check.h"

namespace ktune::cli {

/// `ktune verify --compile-only`: compiles by NVRTC for each target ("sm_90"), with no device. For the first target
/// every variant of the first problem (a seeded sample of 200 where there are more) and the default of every other
/// problem; for the rest the default and one variant of each named path. A default that spills registers is a failure.
/// Prints a table; returns 0 or 1. Throws Error(kUsage) for an unknown target.
int compile_check(const sweep::Selection& selection, const sweep::Options& options,
                  const std::vector<std::string>& targets);

}  // namespace ktune::cli
