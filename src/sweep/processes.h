#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/comparison.h"
#include "model/outcome.h"
#include "sweep/sweep.h"

// Every function here throws Error(kInterrupted) after Ctrl-C, and Error(kEnvironment) where a failure was the
// machine's doing (model::Failure::transient): it says nothing of a kernel.
//
// What a gate measures with: kernels compiled once, then timed in one process after another. Launches of one process
// share addresses, clocks and the placement of code, so figures of one process say little of the next: the process is
// the unit that is repeated.

namespace ktune::sweep {

/// A problem and the one variant of it to time.
struct KernelRequest {
  SharedProblem prepared;
  model::Variant variant;
};

/// Compiled, with all that a worker needs.
struct ReadyKernel {
  SharedProblem prepared;
  model::VariantPlan plan;
  model::KernelBinary reference;
  model::KernelBinary binary;
  std::optional<model::Timer> timer = {};  ///< set by decide_timers or by the caller
};

struct ProcessOptions {
  std::string device;                                         ///< as device::open_device takes it
  std::optional<model::DeviceFacts> expected = std::nullopt;  ///< a process that finds another device throws
  model::CacheState cache_state = model::CacheState::kCold;
  model::TimerRequest timer = {};
  double kernel_ms = 60.0;  ///< sampling time of one kernel in one process
  double compile_deadline_s = 60.0;
  double trial_deadline_s = 30.0;
  int jobs = 0;                                      ///< compile processes, 0: one a core
  std::function<void(const std::string&)> say = {};  ///< told when another process measures on the device
};

/// Compiles every request and its reference, side by side; a failure is the kernel's.
std::vector<model::Result<ReadyKernel>> compile_kernels(std::span<const KernelRequest> requests,
                                                        const model::DeviceFacts& facts, const ProcessOptions& options);

/// What `auto` stands for, kernel by kernel, from one process (choose_timer); a timer asked for by name as it is.
/// Kernels that fail say why.
std::vector<model::Result<model::Timer>> decide_timers(std::span<const ReadyKernel> kernels,
                                                       const model::DeviceFacts& facts, const ProcessOptions& options);

/// Whether each kernel runs and is right, from one process; nothing is timed.
std::vector<model::Status> verify_kernels(std::span<const ReadyKernel> kernels, const ProcessOptions& options);

/// One process: starts a worker, takes the kernels in an order shuffled by `order_seed`, verifies each and times it,
/// ends the worker. Results in the kernels' own order. A kernel whose worker dies costs itself; the others go on in a
/// new one and are marked throttled (their figures are not of the same process).
std::vector<model::Result<model::ProcessFigure>> time_in_one_process(std::span<const ReadyKernel> kernels,
                                                                     const ProcessOptions& options,
                                                                     std::uint64_t order_seed);

}  // namespace ktune::sweep
