#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// Kernel times as CUPTI's activity records say them: start and end of execution on the GPU, without the launch. Loaded
// at run time; prototypes and the records' first fields (the same since CUDA 8) are our own.

namespace ktune::device::cuda {

/// One kernel that ran, in nanoseconds of the GPU's clock.
struct KernelRecord {
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t correlation = 0;  ///< grows with each launch
};

/// Why CUPTI cannot be subscribed to, from its result: 39 is another tool that has it.
std::string subscribe_problem(int result);

/// Kernel activity tracing of this process. Only one may exist; event times taken while it collects are longer.
class Cupti {
 public:
  Cupti();
  ~Cupti();
  Cupti(const Cupti&) = delete;
  Cupti& operator=(const Cupti&) = delete;

  /// Why there is no CUPTI; empty when there is.
  const std::string& problem() const;
  /// "CUPTI 130001"; empty without.
  std::string version() const;
  /// Starts collecting; the reason when it cannot ("another tool has CUPTI: error 39").
  std::string start();
  /// Ends collecting, once the stream is idle. Records are in launch order; nothing and `problem` when some were lost.
  std::vector<KernelRecord> stop(std::string& problem);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ktune::device::cuda
