#pragma once

#include <string>

#include "sweep/sweep.h"

namespace ktune::sweep {

/// The progress line: "[2/12] rmsnorm M=4096 N=4096 bf16  57/120  51 measured, 4 wrong, 2 compile failed  best 18.9 µs
/// 2m10s left".
std::string progress_text(const ProblemStatus& status);

}  // namespace ktune::sweep
