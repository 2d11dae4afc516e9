#pragma once

#include <string>

#include "base/process.h"
#include "model/outcome.h"

namespace ktune::trial {

/// What a dead worker left, as a kCrashed failure. A sanitizer's report gives the reason, with the kernel's source line
/// ("AddressSanitizer: heap-buffer-overflow at overrun.cu:11"); else the way it ended and its last words. `detail` is
/// the end of its error stream.
model::Failure crash_failure(const ExitStatus& status, const std::string& stderr_tail);

}  // namespace ktune::trial
