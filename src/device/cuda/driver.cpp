#include "device/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/error.h"
#include "device/cuda/init_errors.h"

namespace ktune::device::cuda {
namespace {

/// Resolves every function or names the first that is missing.
class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}

  template <typename Function>
  void need(Function& function, const char* symbol) {
    want(function, symbol);
    if (function == nullptr && missing_.empty()) missing_ = symbol;
  }
  template <typename Function>
  void want(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(dlsym(library_, symbol));
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

void resolve_devices(Symbols& symbols, Driver& api) {
  symbols.need(api.init, "cuInit");
  symbols.need(api.driver_get_version, "cuDriverGetVersion");
  symbols.need(api.get_error_name, "cuGetErrorName");
  symbols.need(api.get_error_string, "cuGetErrorString");
  symbols.need(api.device_get_count, "cuDeviceGetCount");
  symbols.need(api.device_get, "cuDeviceGet");
  symbols.need(api.device_get_name, "cuDeviceGetName");
  symbols.need(api.device_get_uuid, "cuDeviceGetUuid_v2");
  symbols.need(api.device_total_mem, "cuDeviceTotalMem_v2");
  symbols.need(api.device_get_attribute, "cuDeviceGetAttribute");
  symbols.need(api.primary_ctx_retain, "cuDevicePrimaryCtxRetain");
  symbols.need(api.primary_ctx_release, "cuDevicePrimaryCtxRelease_v2");
  symbols.need(api.ctx_set_current, "cuCtxSetCurrent");
}

void resolve_memory(Symbols& symbols, Driver& api) {
  symbols.need(api.mem_get_info, "cuMemGetInfo_v2");
  symbols.need(api.mem_alloc, "cuMemAlloc_v2");
  symbols.need(api.mem_free, "cuMemFree_v2");
  symbols.need(api.mem_host_alloc, "cuMemHostAlloc");
  symbols.need(api.mem_host_get_device_pointer, "cuMemHostGetDevicePointer_v2");
  symbols.need(api.mem_free_host, "cuMemFreeHost");
  symbols.need(api.memcpy_htod_async, "cuMemcpyHtoDAsync_v2");
  symbols.need(api.memcpy_dtoh_async, "cuMemcpyDtoHAsync_v2");
  symbols.need(api.memcpy_dtod_async, "cuMemcpyDtoDAsync_v2");
  symbols.need(api.memset_d8_async, "cuMemsetD8Async");
  symbols.need(api.memset_d32_async, "cuMemsetD32Async");
}

void resolve_kernels(Symbols& symbols, Driver& api) {
  symbols.need(api.module_load_data, "cuModuleLoadData");
  symbols.need(api.module_unload, "cuModuleUnload");
  symbols.need(api.module_get_function, "cuModuleGetFunction");
  symbols.need(api.func_get_attribute, "cuFuncGetAttribute");
  symbols.need(api.func_set_attribute, "cuFuncSetAttribute");
  symbols.need(api.launch_kernel_ex, "cuLaunchKernelEx");
  symbols.need(api.max_active_clusters, "cuOccupancyMaxActiveClusters");
  symbols.want(api.module_get_function_count, "cuModuleGetFunctionCount");
  symbols.want(api.module_enumerate_functions, "cuModuleEnumerateFunctions");
  symbols.want(api.func_get_name, "cuFuncGetName");
  symbols.want(api.func_get_param_info, "cuFuncGetParamInfo");
}

void resolve_streams(Symbols& symbols, Driver& api) {
  symbols.need(api.stream_create, "cuStreamCreate");
  symbols.need(api.stream_destroy, "cuStreamDestroy_v2");
  symbols.need(api.stream_synchronize, "cuStreamSynchronize");
  symbols.need(api.event_create, "cuEventCreate");
  symbols.need(api.event_destroy, "cuEventDestroy_v2");
  symbols.need(api.event_record, "cuEventRecord");
  symbols.need(api.event_elapsed_time, "cuEventElapsedTime");
  symbols.need(api.stream_begin_capture, "cuStreamBeginCapture_v2");
  symbols.need(api.stream_end_capture, "cuStreamEndCapture");
  symbols.need(api.graph_instantiate, "cuGraphInstantiateWithFlags");
  symbols.need(api.graph_launch, "cuGraphLaunch");
  symbols.need(api.graph_exec_destroy, "cuGraphExecDestroy");
  symbols.need(api.graph_destroy, "cuGraphDestroy");
}

Driver load_driver() {
  void* library = dlopen(kDriverLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    throw Error(ErrorKind::kEnvironment, fmt::format("no NVIDIA driver: {}", reason == nullptr ? "?" : reason),
                "install NVIDIA's driver (a container needs it mapped in: --gpus all), or use --device cpu");
  }
  Driver api;
  Symbols symbols(library);
  resolve_devices(symbols, api);
  resolve_memory(symbols, api);
  resolve_kernels(symbols, api);
  resolve_streams(symbols, api);
  int version = 0;
  if (api.driver_get_version != nullptr) api.driver_get_version(&version);
  if (!symbols.missing().empty()) {
    throw Error(ErrorKind::kEnvironment,
                fmt::format("the NVIDIA driver is too old: it supports CUDA {}.{} and has no {}", version / 1000,
                            version % 1000 / 10, symbols.missing()),
                "update the driver to one for CUDA 12.8 or newer");
  }
  if (const CUresult result = api.init(0); result != CUDA_SUCCESS) throw_init_error(result, api.text(result));
  return api;
}

}  // namespace

std::string Driver::text(CUresult result) const {
  const char* name = nullptr;
  const char* what = nullptr;
  if (get_error_name == nullptr || get_error_name(result, &name) != CUDA_SUCCESS) name = nullptr;
  if (get_error_string == nullptr || get_error_string(result, &what) != CUDA_SUCCESS) what = nullptr;
  if (name == nullptr) return fmt::format("CUDA error {}", static_cast<int>(result));
  return what == nullptr ? std::string(name) : fmt::format("{}: {}", name, what);
}

const Driver& driver() {
  static const Driver loaded = load_driver();
  return loaded;
}

bool is_fatal(CUresult result) {
  switch (result) {
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_UNKNOWN:
      return true;
    default:
      return false;
  }
}

}  // namespace ktune::device::cuda
