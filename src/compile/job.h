#pragma once

#include <string>

#include "compile/compile.h"
#include "model/json.h"

namespace ktune::compile {

/// Compiles a job here and now, in this process, into the cache. A crash or a hang of the compiler is this process's:
/// only compile workers call it.
model::Result<model::KernelBinary> compile_here(const CompileJob& job, const std::string& cache_dir);

/// One line of the compile worker's protocol.
std::string request_line(const CompileJob& job, const std::string& cache_dir);
/// The worker's answer to one request line.
std::string answer_line(const std::string& request);
/// The parent's reading of an answer.
model::Result<model::KernelBinary> read_answer(const std::string& line);

}  // namespace ktune::compile
