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

/// What a launch means by `kernel` of what count_sass found: the function of that name, or its mangled form. Throws
/// Error(kEnvironment) when there is none, or not one instruction in it: every kernel has some, so the disassembler was
/// not understood.
const model::SassCounts& counts_of(const std::map<std::string, model::SassCounts>& functions,
                                   const std::string& kernel);

}  // namespace ktune::compile
