#include "compile/compile.h"

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "compile/host_compiler.h"
#include "compile/nvrtc_compiler.h"

// Which compiler a target means.

namespace ktune::compile {
namespace {

[[noreturn]] void unknown_target(const std::string& target) {
  throw Error(ErrorKind::kUsage, "cannot compile for '" + target + "'",
              "targets are sm_NN, cpu, cpu-sanitize and fake");
}

}  // namespace

std::string cache_key(const CompileJob& job) {
  if (is_gpu_target(job.target)) return read_nvrtc_input(job).key;
  if (is_host_target(job.target)) return read_host_input(job).key;
  if (job.target != "fake") unknown_target(job.target);
  FieldHasher hasher;
  hasher.add("source", read_file(job.source_path));
  for (const auto& [name, value] : job.macros) hasher.add("macro", name + "=" + value);
  for (const std::string& option : job.options) hasher.add("option", option);
  for (const std::string& kernel : job.kernels) hasher.add("kernel", kernel);
  hasher.add("target", job.target);
  return hasher.hex();
}

std::string binaries_dir() { return (cache_dir() / "binaries").string(); }

std::string compiler_version(const std::string& target) {
  if (is_gpu_target(target)) return nvrtc_version().text();
  if (is_host_target(target)) return host_compiler_version();
  if (target == "fake") return "none";
  unknown_target(target);
}

}  // namespace ktune::compile
