#pragma once

#include <map>
#include <set>
#include <string>

#include "compile/compile.h"
#include "model/outcome.h"
#include "model/sass.h"

// What the static gate compares: the machine code of many kernels, and what is in it.

namespace ktune::gate {

using Binaries = std::map<std::string, model::Result<model::KernelBinary>>;          ///< by cache key
using CodeCounts = std::map<std::string, std::map<std::string, model::SassCounts>>;  ///< by cache key and function

/// Compiles the jobs, which are by cache key; `processes` at a time (0: one a core). Throws Error(kInterrupted).
Binaries compile_all(const std::map<std::string, compile::CompileJob>& jobs, int processes);

/// Hash of the code; where that is not known, of everything it is compiled from.
std::string hash_of(const model::KernelBinary& binary);

/// Disassembles those of `binaries` that `keys` names, several at a time. Throws Error(kEnvironment) as
/// compile::sass_of does, and Error(kInterrupted) after Ctrl-C, which ends the disassemblers.
CodeCounts count_all(const std::set<std::string>& keys, const Binaries& binaries);

}  // namespace ktune::gate
