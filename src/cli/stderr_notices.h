#pragma once

#include "base/notices.h"

namespace ktune::cli {

/// Notices on stderr: lines stay, progress is rewritten in place on a terminal. Copies share one progress line, which
/// is cleared with the last of them.
Notices stderr_notices();

}  // namespace ktune::cli
