#pragma once

#include <functional>
#include <string>

#include "device/cuda/driver.h"
#include "device/cuda/limits.h"
#include "device/cuda/nvml.h"
#include "device/device.h"
#include "model/facts.h"
#include "model/outcome.h"

namespace ktune::device::cuda {

/// One GPU's primary context and the one stream everything runs in. Once an error has cost the context (is_fatal),
/// every later call fails as that one did: only a new process helps.
class Context {
 public:
  /// Throws Error(kEnvironment) when the GPU cannot be opened.
  Context(int ordinal, const std::function<Toolkit()>& toolkit);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& api() const { return api_; }
  CUstream stream() const { return stream_; }
  CUcontext handle() const { return context_; }
  /// Its number in the driver's count.
  CUdevice device() const { return device_; }
  const model::DeviceFacts& facts() const { return facts_; }
  const GpuLimits& limits() const { return limits_; }
  const Nvml& nvml() const { return nvml_; }

  /// {} for success; kCrashed with CUDA's text for an error that costs the context, now or earlier; else `outcome`.
  /// `doing` is what failed: "launching rmsnorm".
  model::Status status(CUresult result, const std::string& doing,
                       model::Outcome outcome = model::Outcome::kLaunchFailed);
  /// The failure that cost the context, if one did.
  model::Status usable() const;
  /// Waits for the stream.
  model::Status synchronize(const std::string& doing);

 private:
  int attribute(CUdevice_attribute which) const;
  void read_facts();

  const Driver& api_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  std::string uuid_;
  Nvml nvml_;
  model::DeviceFacts facts_;
  GpuLimits limits_;
  std::string lost_;
};

}  // namespace ktune::device::cuda
