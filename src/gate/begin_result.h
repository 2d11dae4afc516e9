#pragma once

#include "model/provenance.h"
#include "verdict/result.h"

namespace ktune::gate {

/// A gate's result with what it is known by before anything was found: mode, date, and what makes it.
verdict::Result begin_result(verdict::Mode mode, const model::Provenance& provenance);

}  // namespace ktune::gate
