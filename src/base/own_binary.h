#pragma once

#include <string>

namespace ktune {

/// The ktune that worker processes are started from: $KTUNE_BINARY, else the running executable.
std::string own_binary();

}  // namespace ktune
