#pragma once

#include "gate/result.h"

namespace ktune::cli {

/// A gate's result with what it is known by before anything was found: mode, date, command, ktune's version and commit.
gate::Result begin_result(gate::Mode mode);

}  // namespace ktune::cli
