#include "sweep/kernel_processes.h"

#include <utility>

#include "sweep/selection.h"

namespace ktune::sweep {

namespace {

class DeviceProcesses final : public KernelProcesses {
 public:
  DeviceProcesses(model::DeviceFacts facts, ProcessOptions options)
      : facts_(std::move(facts)), options_(std::move(options)) {}

  void check_timer(const model::TimerRequest& timer) override { sweep::check_timer(options_.device, timer); }

  std::vector<model::Result<ReadyKernel>> compile(std::span<const KernelRequest> requests) override {
    return compile_kernels(requests, facts_, options_);
  }

  std::vector<model::Result<model::Timer>> decide_timers(std::span<const ReadyKernel> kernels) override {
    return sweep::decide_timers(kernels, facts_, options_);
  }

  std::vector<model::Status> verify(std::span<const ReadyKernel> kernels) override {
    return verify_kernels(kernels, options_);
  }

  std::vector<model::Result<model::ProcessFigure>> time_in_one_process(std::span<const ReadyKernel> kernels,
                                                                       std::uint64_t order_seed) override {
    return sweep::time_in_one_process(kernels, options_, order_seed);
  }

 private:
  model::DeviceFacts facts_;
  ProcessOptions options_;
};

}  // namespace

std::unique_ptr<KernelProcesses> open_device_processes(const model::DeviceFacts& facts, const ProcessOptions& options) {
  return std::make_unique<DeviceProcesses>(facts, options);
}

}  // namespace ktune::sweep
