#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/plan.h"

// A kernel's text as the host's compiler takes it. The text itself is not changed but in three places C++ has no word
// for, none of which moves a line:
//
//   extern __shared__ float buffer[];       a pointer to the block's dynamic shared memory
//   extern "C" __global__ void write(…)     without `extern "C"`: a kernel may be called as a libc function is
//   static __shared__, __shared__ alignas   in the order that thread_local allows
//
// It then stands in a namespace of its own, followed by a table of the kernels that are launched.

namespace ktune::compile {

/// One source or header, rewritten; as many lines as before.
std::string rewrite_for_host(std::string_view text);

/// The whole translation unit: macros, the source under its own name, the table.
std::string wrap_for_host(std::string_view source_name, std::string_view rewritten, const model::Macros& macros,
                          const std::vector<std::string>& kernels);

}  // namespace ktune::compile
