#include "device/cuda/cuda_device.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "device/cuda/builtin.h"
#include "device/cuda/context.h"
#include "device/cuda/dram_traffic.h"
#include "device/cuda/init_errors.h"
#include "device/cuda/modules.h"
#include "device/cuda/timing.h"

// A GPU through the driver API: no CUDA runtime, nothing linked. Everything runs in one stream of the primary context,
// so calls need no ordering of their own; whatever hands bytes to the host waits for the stream.

namespace ktune::device {
namespace cuda {
namespace {

using model::Outcome;
using model::Status;

class CudaDevice final : public Device {
 public:
  CudaDevice(int ordinal, const BuiltinCompiler& compiler)
      : context_(ordinal, compiler.toolkit),
        builtin_(context_, compiler.code),
        modules_(context_),
        stream_(context_, builtin_, modules_),
        timing_(stream_),
        counting_(context_, builtin_, modules_, stream_) {}

  const model::DeviceFacts& facts() const override { return context_.facts(); }
  model::MachineState state() override { return context_.nvml().state(); }

  model::Result<DevicePtr> allocate(std::int64_t bytes) override {
    CUdeviceptr pointer = 0;
    if (Status status = context_.usable(); !status) return tl::unexpected(status.error());
    if (bytes < 0) return model::fail(Outcome::kLaunchFailed, fmt::format("cannot allocate {} bytes", bytes));
    const CUresult result = context_.api().mem_alloc(&pointer, static_cast<std::size_t>(bytes > 0 ? bytes : 1));
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
      return model::fail_transient(Outcome::kRejected, fmt::format("needs {} of device memory, {} is free",
                                                                   format_bytes(bytes), format_bytes(free_memory())));
    }
    if (Status status = context_.status(result, "allocating memory"); !status) return tl::unexpected(status.error());
    return pointer;
  }

  std::int64_t free_memory() override {
    std::size_t free = 0;
    std::size_t total = 0;
    return context_.api().mem_get_info(&free, &total) == CUDA_SUCCESS ? static_cast<std::int64_t>(free) : 0;
  }

  void release(DevicePtr pointer) override {
    if (pointer != 0) context_.api().mem_free(pointer);
  }

  Status initialise(DevicePtr base, const model::TensorPlan& plan, std::uint64_t seed) override {
    return builtin_.initialise(base, plan, seed);
  }
  Status poison(DevicePtr pointer, std::int64_t bytes, std::uint32_t pattern) override {
    return builtin_.poison(pointer, bytes, pattern);
  }

  Status copy(DevicePtr to, DevicePtr from, std::int64_t bytes) override {
    if (bytes <= 0) return context_.usable();
    const auto count = static_cast<std::size_t>(bytes);
    return context_.status(context_.api().memcpy_dtod_async(to, from, count, context_.stream()), "copying memory");
  }

  Status read(void* to, DevicePtr from, std::int64_t bytes) override {
    if (bytes <= 0) return context_.usable();
    const auto count = static_cast<std::size_t>(bytes);
    Status status =
        context_.status(context_.api().memcpy_dtoh_async(to, from, count, context_.stream()), "reading memory");
    return status ? context_.synchronize("reading memory") : status;
  }

  Status write(DevicePtr to, const void* from, std::int64_t bytes) override {
    if (bytes <= 0) return context_.usable();
    const auto count = static_cast<std::size_t>(bytes);
    Status status =
        context_.status(context_.api().memcpy_htod_async(to, from, count, context_.stream()), "writing memory");
    return status ? context_.synchronize("writing memory") : status;
  }

  model::Result<std::int64_t> first_changed(DevicePtr pointer, std::int64_t bytes, std::uint32_t pattern) override {
    return builtin_.first_changed(pointer, bytes, pattern);
  }
  model::Result<CompareResult> compare(DevicePtr out, DevicePtr reference, const model::TensorPlan& plan, Poison poison,
                                       Share share) override {
    return builtin_.compare({out, reference, plan, poison}, share);
  }
  model::Result<std::uint64_t> checksum(DevicePtr pointer, std::int64_t bytes) override {
    return builtin_.checksum(pointer, bytes);
  }

  model::Result<ModuleId> load(const model::KernelBinary& binary) override { return modules_.load(binary); }
  void unload(ModuleId module) override { modules_.unload(module); }
  model::Result<model::KernelResources> resources(ModuleId module, const std::string& kernel) override {
    return modules_.resources(module, kernel);
  }
  Status check(const PreparedLaunch& launch) override { return modules_.check(launch); }

  Status launch(const LaunchSequence& sequence) override {
    if (Status status = context_.usable(); !status) return status;
    auto bound = modules_.bind(sequence);
    if (!bound) return tl::unexpected(bound.error());
    return modules_.enqueue(*bound);
  }
  Status synchronize() override { return context_.synchronize("running the kernel"); }

  model::Result<Timed> time(std::span<const TimedCall> rotation, const TimingRequest& request) override {
    return timing_.time(rotation, request);
  }
  std::vector<model::Timer> timers() const override { return timing_.timers(); }
  std::string timer_problem(model::Timer timer) override { return timing_.problem(timer); }
  model::Result<std::vector<double>> time_probe(const Probe& probe, const TimingRequest& request) override {
    return timing_.time_probe(probe, request);
  }
  model::Result<DramTraffic> traffic(const TimedCall& call) override { return counting_.traffic(call); }
  model::Result<EvictionProof> prove_eviction() override { return counting_.prove_eviction(); }

 private:
  Context context_;
  Builtin builtin_;
  Modules modules_;
  TimedStream stream_;
  mutable Timing timing_;  ///< timers() may load CUPTI
  DramCounting counting_;
};

}  // namespace
}  // namespace cuda

std::unique_ptr<Device> open_cuda_device(int ordinal, const BuiltinCompiler& compiler) {
  return std::make_unique<cuda::CudaDevice>(ordinal, compiler);
}

int count_cuda_devices(std::string& problem) {
  try {
    int count = 0;
    const cuda::Driver& api = cuda::driver();
    const CUresult result = api.device_get_count(&count);
    if (result != CUDA_SUCCESS) cuda::throw_init_error(result, api.text(result));
    if (count == 0) cuda::throw_init_error(cuda::kNoDevice, "");
    return count;
  } catch (const Error& error) {
    problem = error.message();
    return 0;
  }
}

bool has_cuda_driver() {
  void* library = dlopen(cuda::kDriverLibrary, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  dlclose(library);
  return true;
}

}  // namespace ktune::device
