#include "device/cuda/modules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "device/cuda/limits.h"
#include "model/limits.h"

namespace ktune::device::cuda {
namespace {

using model::Outcome;
using model::Status;

constexpr std::int64_t kPortableCluster = 8;

unsigned extent(std::int64_t value) { return static_cast<unsigned>(value); }

}  // namespace

Modules::~Modules() {
  for (const auto& [id, module] : modules_) context_.api().module_unload(module.handle);
}

model::Result<ModuleId> Modules::load(const model::KernelBinary& binary) {
  if (Status status = context_.usable(); !status) return tl::unexpected(status.error());
  std::string code;
  try {
    code = read_file(binary.path);
  } catch (const Error& error) {
    return model::fail(Outcome::kLaunchFailed, error.message());
  }
  Module module;
  const CUresult result = context_.api().module_load_data(&module.handle, code.data());
  if (Status status = context_.status(result, "loading " + binary.key); !status) {
    return tl::unexpected(status.error());
  }
  const ModuleId id = next_++;
  modules_.emplace(id, std::move(module));
  return id;
}

void Modules::unload(ModuleId module) {
  const auto found = modules_.find(module);
  if (found == modules_.end()) return;
  context_.api().module_unload(found->second.handle);
  modules_.erase(found);
}

int Modules::attribute(CUfunction function, CUfunction_attribute which) const {
  int value = 0;
  return context_.api().func_get_attribute(&value, which, function) == CUDA_SUCCESS ? value : 0;
}

CUresult Modules::look_up(CUmodule module, const std::string& kernel, CUfunction& function) const {
  const Driver& api = context_.api();
  const CUresult result = api.module_get_function(&function, module, kernel.c_str());
  if (result != CUDA_ERROR_NOT_FOUND || api.module_get_function_count == nullptr ||
      api.module_enumerate_functions == nullptr || api.func_get_name == nullptr) {
    return result;
  }
  // Without extern "C" the name is mangled: _Z7rmsnormPf…
  unsigned count = 0;
  if (api.module_get_function_count(&count, module) != CUDA_SUCCESS) return result;
  std::vector<CUfunction> functions(count);
  if (api.module_enumerate_functions(functions.data(), count, module) != CUDA_SUCCESS) return result;
  const std::string mangled = fmt::format("_Z{}{}", kernel.size(), kernel);
  for (CUfunction candidate : functions) {
    const char* name = nullptr;
    if (api.func_get_name(&name, candidate) != CUDA_SUCCESS || name == nullptr) continue;
    if (std::string_view(name).starts_with(mangled)) {
      function = candidate;
      return CUDA_SUCCESS;
    }
  }
  return result;
}

model::Result<Modules::Function*> Modules::find(ModuleId module, const std::string& kernel) {
  const auto found = modules_.find(module);
  if (found == modules_.end())
    return model::fail(Outcome::kLaunchFailed, fmt::format("module {} is not loaded", module));
  const auto known = found->second.functions.find(kernel);
  if (known != found->second.functions.end()) return &known->second;
  Function function;
  const CUresult result = look_up(found->second.handle, kernel, function.handle);
  if (Status status = context_.status(result, fmt::format("no kernel '{}' in the binary", kernel)); !status) {
    return tl::unexpected(status.error());
  }
  function.needs.name = kernel;
  function.needs.registers = attribute(function.handle, CU_FUNC_ATTRIBUTE_NUM_REGS);
  function.needs.static_smem = attribute(function.handle, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  function.needs.max_threads = attribute(function.handle, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  function.local_bytes = attribute(function.handle, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  return &found->second.functions.emplace(kernel, std::move(function)).first->second;
}

model::Result<model::KernelResources> Modules::resources(ModuleId module, const std::string& kernel) {
  const auto function = find(module, kernel);
  if (!function) return tl::unexpected(function.error());
  model::KernelResources resources;
  resources.registers = (*function)->needs.registers;
  resources.shared_bytes = static_cast<int>((*function)->needs.static_smem);
  resources.local_bytes = (*function)->local_bytes;
  return resources;
}

/// The driver reads as many arguments as the kernel has, of the sizes it has: fewer or smaller ones are read past
/// their end, in this process.
Status Modules::check_arguments(const Function& function, const PreparedLaunch& launch) const {
  const Driver& api = context_.api();
  if (api.func_get_param_info == nullptr) return {};
  std::size_t count = 0;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  while (api.func_get_param_info(function.handle, count, &offset, &bytes) == CUDA_SUCCESS) {
    if (count < launch.args.size() && launch.args[count].size() < bytes) {
      return model::fail(Outcome::kLaunchFailed, fmt::format("argument {} of {} takes {} bytes, the launch gives {}",
                                                             count, launch.kernel, bytes, launch.args[count].size()));
    }
    ++count;
  }
  if (count == launch.args.size()) return {};
  return model::fail(Outcome::kLaunchFailed, fmt::format("{} takes {} arguments, the launch gives {}", launch.kernel,
                                                         count, launch.args.size()));
}

Status Modules::allow(Function& function, const model::LaunchPlan& plan) {
  const Driver& api = context_.api();
  if (plan.smem_bytes > function.smem_allowed) {
    const CUresult result = api.func_set_attribute(function.handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                   static_cast<int>(plan.smem_bytes));
    const std::string doing = fmt::format("{} with {} bytes of shared memory", function.needs.name, plan.smem_bytes);
    if (Status status = context_.status(result, doing); !status) return status;
    function.smem_allowed = plan.smem_bytes;
  }
  if (model::volume(plan.cluster) > kPortableCluster && !function.big_clusters) {
    const CUresult result =
        api.func_set_attribute(function.handle, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    const std::string doing = fmt::format("{} with a cluster above {}", function.needs.name, kPortableCluster);
    if (Status status = context_.status(result, doing, Outcome::kRejected); !status) return status;
    function.big_clusters = true;
  }
  return {};
}

model::Result<BoundLaunch> Modules::bind(const PreparedLaunch& launch) {
  const auto function = find(launch.module, launch.kernel);
  if (!function) return tl::unexpected(function.error());
  const model::LaunchPlan& plan = launch.plan;
  if (Status status = allow(**function, plan); !status) return tl::unexpected(status.error());
  BoundLaunch bound;
  bound.function = (*function)->handle;
  bound.kernel = &launch.kernel;
  bound.config.gridDimX = extent(plan.grid[0]);
  bound.config.gridDimY = extent(plan.grid[1]);
  bound.config.gridDimZ = extent(plan.grid[2]);
  bound.config.blockDimX = extent(plan.block[0]);
  bound.config.blockDimY = extent(plan.block[1]);
  bound.config.blockDimZ = extent(plan.block[2]);
  bound.config.sharedMemBytes = extent(plan.smem_bytes);
  bound.config.hStream = context_.stream();
  if (model::volume(plan.cluster) > 1) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = extent(plan.cluster[0]);
    attribute.value.clusterDim.y = extent(plan.cluster[1]);
    attribute.value.clusterDim.z = extent(plan.cluster[2]);
    bound.attributes.push_back(attribute);
  }
  if (plan.pdl && context_.limits().sm >= 90) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    bound.attributes.push_back(attribute);
  }
  for (const auto& argument : launch.args) {
    // The driver takes void** and only reads.
    bound.arguments.push_back(const_cast<std::byte*>(argument.data()));
  }
  return bound;
}

model::Result<BoundSequence> Modules::bind(const LaunchSequence& sequence) {
  BoundSequence bound;
  for (const PreparedLaunch& launch : sequence) {
    auto one = bind(launch);
    if (!one) return tl::unexpected(one.error());
    bound.push_back(std::move(*one));
  }
  return bound;
}

Status Modules::check(const PreparedLaunch& launch) {
  const auto function = find(launch.module, launch.kernel);
  if (!function) return tl::unexpected(function.error());
  if (Status status = check_limits(context_.limits(), (*function)->needs, launch.plan); !status) return status;
  if (Status status = check_arguments(**function, launch); !status) return status;
  if (model::volume(launch.plan.cluster) == 1) return {};
  auto bound = bind(launch);
  if (!bound) return tl::unexpected(bound.error());
  bound->config.attrs = bound->attributes.data();
  bound->config.numAttrs = static_cast<unsigned>(bound->attributes.size());
  int clusters = 0;
  const CUresult result = context_.api().max_active_clusters(&clusters, bound->function, &bound->config);
  const std::string doing =
      fmt::format("a cluster of {} blocks of {}", model::volume(launch.plan.cluster), launch.kernel);
  if (Status status = context_.status(result, doing, Outcome::kRejected); !status) return status;
  if (clusters > 0) return {};
  return model::fail(Outcome::kRejected, doing + " does not fit the device");
}

Status Modules::enqueue(BoundLaunch& launch) {
  launch.config.attrs = launch.attributes.empty() ? nullptr : launch.attributes.data();
  launch.config.numAttrs = static_cast<unsigned>(launch.attributes.size());
  const CUresult result =
      context_.api().launch_kernel_ex(&launch.config, launch.function, launch.arguments.data(), nullptr);
  return result == CUDA_SUCCESS ? Status() : context_.status(result, "launching " + *launch.kernel);
}

Status Modules::enqueue(BoundSequence& sequence) {
  for (BoundLaunch& launch : sequence) {
    if (Status status = enqueue(launch); !status) return status;
  }
  return {};
}

}  // namespace ktune::device::cuda
