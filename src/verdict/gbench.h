#pragma once

#include <string>

namespace ktune::verdict {

/// What a kernel is called where Google Benchmark's tools look: "rmsnorm/M:4096/N:4096/bf16". `ktune bench` registers
/// it, and the library appends "/manual_time"; the gate's files do both, so that compare.py pairs all of them.
std::string benchmark_name(const std::string& op, const std::string& problem);

}  // namespace ktune::verdict
