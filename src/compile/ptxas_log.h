#pragma once

#include <map>
#include <string>
#include <string_view>

#include "model/outcome.h"

namespace ktune::compile {

/// Registers, shared memory, stack and spills of every entry in ptxas' verbose log, by the entry's name in the binary
/// ("rmsnorm", or "_Z7rmsnormPf" without extern "C").
std::map<std::string, model::KernelResources> parse_ptxas_log(std::string_view log);

/// The entry that a launch means by `kernel`: itself, or its mangled form; "" when there is none.
std::string entry_of(const std::map<std::string, model::KernelResources>& entries, const std::string& kernel);

/// The log without ptxas' notes: what a person should read of a failed compile.
std::string without_notes(std::string_view log);

/// One line that says why a compile failed: the first error of the log, or its first line.
std::string first_error(std::string_view log);

}  // namespace ktune::compile
