#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/outcome.h"
#include "model/plan.h"

namespace ktune::compile {

/// Everything a compile depends on; nothing else may change its result.
struct CompileJob {
  std::string source_path;  ///< the op's .cu
  model::Macros macros;
  std::vector<std::string> include_dirs;  ///< the op's own, absolute
  std::vector<std::string> options;       ///< the op's own compiler options
  std::string target;                     ///< DeviceFacts::target: "sm_90" (NVRTC), "cpu", "cpu-sanitize", "fake"
  std::vector<std::string> kernels;       ///< entries the launches name
  double deadline_s = 60.0;

  static constexpr bool kStrict = true;
  static void fields(auto& self, auto&& field) {
    field("source_path", self.source_path);
    field("macros", self.macros);
    field("include_dirs", self.include_dirs);
    field("options", self.options);
    field("target", self.target);
    field("kernels", self.kernels);
    field("deadline_s", self.deadline_s);
  }
};

/// XXH3-128 hex over the source, every header's bytes, macros, options, target and compiler version; never a path.
/// Throws Error(kUsage) when the source cannot be read, Error(kEnvironment) when there is no compiler.
std::string cache_key(const CompileJob& job);

/// "NVRTC 13.0.88", "g++ 12.2.0": what compiles for this target here. Throws Error(kEnvironment) with a hint.
std::string compiler_version(const std::string& target);

struct CompileResult {
  std::int64_t ticket = 0;
  model::Result<model::KernelBinary> binary;
};

/// What compiles: a pool of processes, or a script in tests.
class Compiler {
 public:
  virtual ~Compiler() = default;
  /// Queues a job and returns its ticket.
  virtual std::int64_t submit(CompileJob job) = 0;
  /// The next finished job, waiting at most `timeout_s`; nothing on timeout or when none is queued.
  virtual std::optional<CompileResult> wait(double timeout_s) = 0;
  /// How many jobs it compiles at once.
  virtual int jobs() const = 0;
};

/// A pool of compile processes (`ktune compile-worker`, hidden) over a disk cache. Results come in any order.
class CompilePool : public Compiler {
 public:
  /// `cache_dir` is created; `jobs` processes at most (0: one per core).
  CompilePool(std::string cache_dir, int jobs);
  ~CompilePool() override;  ///< kills what still runs

  /// A cached binary comes back from the next wait without a process.
  std::int64_t submit(CompileJob job) override;
  std::optional<CompileResult> wait(double timeout_s) override;
  int jobs() const override;
  int pending() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Where ktune keeps binaries between commands: below cache_dir().
std::string binaries_dir();

/// Compiles one job in this process's children, waiting for it.
model::Result<model::KernelBinary> compile_one(const CompileJob& job, const std::string& cache_dir);

/// Body of the hidden compile worker: one JSON job a line on stdin, one JSON result a line on stdout. Returns an exit
/// code.
int compile_worker_main();

/// Hash of a binary's machine code and of all in it that changes how it runs; of a cubin: constants, initial data,
/// shared memory, registers, stack, relocations. Never line numbers or notes, nor names of what is inside a cubin, so
/// two compiles that differ only in comments or in the names of locals are the same. "" where this cannot be told (fake
/// binaries, a damaged or missing file): then only equal keys mean equal code.
std::string code_hash(const model::KernelBinary& binary);

/// The same of a cubin's bytes.
std::string code_hash_of(std::string_view cubin);

/// The names of the `__device__` variables in a cubin: what a kernel can keep from launch to launch.
std::vector<std::string> state_of(std::string_view cubin);

/// PTX or SASS of a job, for `ktune show`. Throws Error(kEnvironment) when the disassembler is missing, fails or prints
/// more than is kept (64 MiB), Error(kInterrupted) after Ctrl-C, which ends it.
std::string ptx_of(const CompileJob& job);
std::string sass_of(const model::KernelBinary& binary);

}  // namespace ktune::compile
