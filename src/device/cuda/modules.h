#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/cuda/context.h"
#include "device/cuda/limits.h"
#include "device/device.h"

namespace ktune::device::cuda {

/// A launch in the driver's words. Arguments are pointed to, not copied: the PreparedLaunch it was bound from must
/// outlive it.
struct BoundLaunch {
  CUfunction function = nullptr;
  CUlaunchConfig config{};
  std::vector<CUlaunchAttribute> attributes;
  std::vector<void*> arguments;
  const std::string* kernel = nullptr;
};
using BoundSequence = std::vector<BoundLaunch>;

/// Loaded binaries and their kernels.
class Modules {
 public:
  explicit Modules(Context& context) : context_(context) {}
  ~Modules();
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  model::Result<ModuleId> load(const model::KernelBinary& binary);
  void unload(ModuleId module);
  model::Result<model::KernelResources> resources(ModuleId module, const std::string& kernel);
  /// kRejected: it does not fit the device. kLaunchFailed: its arguments are not the kernel's.
  model::Status check(const PreparedLaunch& launch);
  /// Raises the kernel's shared memory limit when the launch needs it.
  model::Result<BoundLaunch> bind(const PreparedLaunch& launch);
  model::Result<BoundSequence> bind(const LaunchSequence& sequence);
  model::Status enqueue(BoundLaunch& launch);
  model::Status enqueue(BoundSequence& sequence);

 private:
  struct Function {
    CUfunction handle = nullptr;
    KernelNeeds needs;
    int local_bytes = 0;
    std::int64_t smem_allowed = 0;
    bool big_clusters = false;
  };
  struct Module {
    CUmodule handle = nullptr;
    std::map<std::string, Function> functions;
  };

  model::Result<Function*> find(ModuleId module, const std::string& kernel);
  CUresult look_up(CUmodule module, const std::string& kernel, CUfunction& function) const;
  model::Status check_arguments(const Function& function, const PreparedLaunch& launch) const;
  model::Status allow(Function& function, const model::LaunchPlan& plan);
  int attribute(CUfunction function, CUfunction_attribute which) const;

  Context& context_;
  std::map<ModuleId, Module> modules_;
  ModuleId next_ = 0;
};

}  // namespace ktune::device::cuda
