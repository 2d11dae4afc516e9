#pragma once

#include <string>

#include "model/facts.h"

namespace ktune::compile {

/// What a target's devices have at least, where no device is there to ask. Throws Error(kUsage), "did you mean".
model::DeviceFacts target_facts(const std::string& target);

}  // namespace ktune::compile
