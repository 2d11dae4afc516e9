#pragma once

#include <map>
#include <string>
#include <string_view>

#include "model/sass.h"

namespace ktune::compile {

/// Counts the instructions of every function in what nvdisasm -c or cuobjdump -sass printed (see sass_of), by the
/// function's name in the binary ("rmsnorm", or "_Z7rmsnormPf" without extern "C"). A function that was not inlined
/// counts as part of the kernel whose section it is in.
std::map<std::string, model::SassCounts> count_sass(std::string_view text);

}  // namespace ktune::compile
