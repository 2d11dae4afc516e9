#pragma once

#include <map>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "compile/compiled.h"

// A job for the host ("cpu", "cpu-sanitize"): the kernel's own text, compiled by the host's C++ compiler against
// src/device/cpu/simt.h into a shared object.
//
// Flags and why. -O1: a variant runs for milliseconds and compiles for a hundred. -fno-strict-aliasing: kernels read
// floats as uint4. -fwrapv: as a GPU's integers do (a sanitized build reports the overflow instead). The checks of
// null, alignment and bounds stand in for the GPU's own faults; simt_checks.h holds their handlers, so that no
// sanitizer library is linked. The anonymous namespace around the text keeps variants apart: a kernel named `write`
// does not become libc's, and two loaded variants never share a shared array of different sizes. -Bsymbolic, hidden
// visibility and -fno-gnu-unique say the same of whatever a header puts outside of it.

namespace ktune::compile {

/// A job with every byte its compile depends on read.
struct HostInput {
  std::string unit;                            ///< the whole translation unit
  std::map<std::string, std::string> headers;  ///< by the name an #include spells, rewritten
  std::vector<std::string> flags;
  std::string key;
};

/// "cpu" or "cpu-sanitize".
bool is_host_target(const std::string& target);

/// Reads the source and the headers of the op's own, and hashes them with everything else. Of the op's options -D, -U
/// and -I are taken, NVRTC's others mean nothing here. Throws Error(kUsage) when the source cannot be read,
/// Error(kEnvironment) when there is no compiler or no CUDA headers.
HostInput read_host_input(const CompileJob& job);

/// Compiles; kCompileFailed with the first error as the reason and the log as the detail, kTimedOut past the job's
/// deadline.
model::Result<Compiled> compile_on_host(const HostInput& input, const CompileJob& job);

/// read_host_input and compile_on_host, written to `output_stem`.so.
model::Result<model::KernelBinary> compile_for_host(const CompileJob& job, const std::string& output_stem);

/// "g++ 12.2.0". Throws Error(kEnvironment).
std::string host_compiler_version();

}  // namespace ktune::compile
