#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/notices.h"
#include "sweep/selection.h"
#include "sweep/sweep.h"

namespace ktune::probe {

/// What one op came to for one target.
struct CompileTally {
  std::string op, target;
  std::int64_t compiled = 0;
  std::int64_t failed = 0;  ///< a default that spills registers among them
  std::int64_t spilling = 0;
  std::int64_t most_registers = 0;
};

/// `ktune verify --compile-only`: compiles by NVRTC for each target ("sm_90"), with no device. For the first target
/// every variant of the first problem (a seeded sample of 200 where there are more) and the default of every other
/// problem; for the rest the default and one variant of each named path. Notices say what failed. After Ctrl-C the
/// tallies are of what was compiled until then. Throws Error(kUsage) for an unknown target.
std::vector<CompileTally> check_compiles(const sweep::Selection& selection, const sweep::Options& options,
                                         const std::vector<std::string>& targets, const Notices& notices);

}  // namespace ktune::probe
