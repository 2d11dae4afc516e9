#include "base/own_binary.h"

#include <cstdlib>

#include "base/files.h"

namespace ktune {

std::string own_binary() {
  const char* named = std::getenv("KTUNE_BINARY");
  return named != nullptr && *named != '\0' ? named : executable_path().string();
}

}  // namespace ktune
