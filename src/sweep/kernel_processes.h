#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/comparison.h"
#include "model/outcome.h"
#include "sweep/processes.h"

namespace ktune::sweep {

/// What a gate asks of a device: kernels compiled, verified, and timed process by process. The functions are those of
/// processes.h, bound to a device; a test scripts them instead.
class KernelProcesses {
 public:
  KernelProcesses() = default;
  KernelProcesses(const KernelProcesses&) = delete;
  KernelProcesses& operator=(const KernelProcesses&) = delete;
  virtual ~KernelProcesses() = default;

  /// As sweep::check_timer.
  virtual void check_timer(const model::TimerRequest& timer) = 0;
  virtual std::vector<model::Result<ReadyKernel>> compile(std::span<const KernelRequest> requests) = 0;
  virtual std::vector<model::Result<model::Timer>> decide_timers(std::span<const ReadyKernel> kernels) = 0;
  virtual std::vector<model::Status> verify(std::span<const ReadyKernel> kernels) = 0;
  virtual std::vector<model::Result<model::ProcessFigure>> time_in_one_process(std::span<const ReadyKernel> kernels,
                                                                               std::uint64_t order_seed) = 0;
};

using OpenProcesses = std::function<std::unique_ptr<KernelProcesses>(const model::DeviceFacts&, const ProcessOptions&)>;

/// The device's own: compile processes and workers.
std::unique_ptr<KernelProcesses> open_device_processes(const model::DeviceFacts& facts, const ProcessOptions& options);

}  // namespace ktune::sweep
