#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/process.h"
#include "base/text.h"
#include "compile/compile.h"
#include "compile/nvrtc_compiler.h"
#include "compile/ptxas_log.h"

// What the compiler made, as text: PTX from NVRTC itself, SASS from one of the toolkit's disassemblers.

namespace ktune::compile {
namespace {

namespace fs = std::filesystem;

/// An instruction takes about 100 bytes of text. The longest kernels have some ten thousand.
constexpr std::size_t kMostText = 64 << 20;

/// The folders a toolkit's programs are looked for in, in order.
std::vector<fs::path> program_dirs() {
  std::vector<fs::path> dirs;
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home != '\0') {
    dirs.push_back(fs::path(home) / "bin");
  }
  dirs.push_back(fs::path(KTUNE_CUDA_HOME) / "bin");
  dirs.emplace_back("/usr/local/cuda/bin");
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    for (const std::string& dir : split(path, ':')) dirs.emplace_back(dir);
  }
  return dirs;
}

fs::path find_program(const std::string& name) {
  for (const fs::path& dir : program_dirs()) {
    const fs::path candidate = dir / name;
    std::error_code error;
    if (fs::is_regular_file(candidate, error) && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

}  // namespace

std::string ptx_of(const CompileJob& job) {
  if (!is_gpu_target(job.target)) {
    throw Error(ErrorKind::kUsage, fmt::format("there is no PTX for '{}'", job.target), "PTX exists for a GPU only");
  }
  NvrtcInput input = read_nvrtc_input(job);
  for (std::string& option : input.program.options) {
    if (option == "--gpu-architecture=" + job.target) {
      option = "--gpu-architecture=compute_" + job.target.substr(3);
    }
  }
  std::erase_if(input.program.options, [](const std::string& option) { return option.starts_with("--ptxas-options"); });
  const NvrtcOutput output = run_nvrtc(input.program);
  if (output.ok) return output.code;
  throw Error(ErrorKind::kNo, fmt::format("{} does not compile: {}", input.program.name, first_error(output.log)), "",
              without_notes(output.log));
}

std::string sass_of(const model::KernelBinary& binary) {
  if (!is_gpu_target(binary.target)) {
    throw Error(ErrorKind::kUsage, fmt::format("there is no SASS for '{}'", binary.target),
                "SASS exists for a GPU only");
  }
  std::vector<std::string> command;
  if (const fs::path nvdisasm = find_program("nvdisasm"); !nvdisasm.empty()) {
    command = {nvdisasm.string(), "-c", binary.path};
  } else if (const fs::path cuobjdump = find_program("cuobjdump"); !cuobjdump.empty()) {
    command = {cuobjdump.string(), "-sass", binary.path};
  } else {
    throw Error(ErrorKind::kEnvironment, "neither nvdisasm nor cuobjdump was found",
                "install a CUDA toolkit or NVIDIA's wheel nvidia-cuda-nvdisasm, and set CUDA_HOME to its folder or add "
                "its bin to PATH");
  }
  const CommandResult result = run_command(command, 60.0, {}, {.stream_bytes = kMostText, .ends_at_interrupt = true});
  if (result.interrupted) throw Error(ErrorKind::kInterrupted, "interrupted; not everything was disassembled");
  if (result.timed_out || result.status.code != 0) {
    throw Error(ErrorKind::kEnvironment,
                fmt::format("{} failed: {}", command[0], result.timed_out ? "no answer in 60 s" : result.status.text()),
                "it may be older than the binary; a newer toolkit reads it", std::string(trim(result.err)));
  }
  // Half a kernel would look like a small one.
  if (result.cut) {
    throw Error(ErrorKind::kEnvironment,
                fmt::format("{} printed more than {} MiB of {}", command[0], kMostText >> 20, binary.path),
                "so much code is not read; a kernel that unrolls less has less");
  }
  return result.out;
}

}  // namespace ktune::compile
