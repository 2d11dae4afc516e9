#pragma once

#include <string>

#include "compile/compile.h"
#include "compile/compiled.h"
#include "compile/nvrtc.h"

// A job for a GPU ("sm_90"), compiled by NVRTC from memory.

namespace ktune::compile {

/// A job with every byte its compile depends on read.
struct NvrtcInput {
  NvrtcProgram program;
  std::string key;
};

/// Reads the source and every header it may include (the op's include folders, ktune's kernels/include, CUDA's own) and
/// hashes them with everything else. Throws Error(kUsage) when the source cannot be read.
NvrtcInput read_nvrtc_input(const CompileJob& job);

/// Compiles; CompileFailed with the first error as the reason and the log as the detail.
model::Result<Compiled> compile_with_nvrtc(const NvrtcInput& input, const CompileJob& job);

/// Is this what a GPU is called: "sm_90", "sm_90a"?
bool is_gpu_target(const std::string& target);

}  // namespace ktune::compile
