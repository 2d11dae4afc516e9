#include "device/cuda/counters_host.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "device/cuda/counters_api.h"
#include "device/cuda/cupti_library.h"

namespace ktune::device::cuda {
namespace {

using model::Outcome;

constexpr int kCuptiMajor = 13;

constexpr std::array<DramMetrics, 3> kDramMetrics{{
    {"dram__bytes_read.sum", "dram__bytes_write.sum"},
    {"fbpa__dram_read_bytes.sum", "fbpa__dram_write_bytes.sum"},
    {"dram__bytes_op_read.sum", "dram__bytes_op_write.sum"},
}};

struct Cause {
  int result;
  const char* reason;
  const char* remedy;
};

constexpr Cause kCauses[] = {
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "hardware counters are for administrators only (ERR_NVGPUCTRPERM)",
     "run as root, give CAP_SYS_ADMIN (a container: --cap-add=SYS_ADMIN; newer drivers: CAP_PERFMON), or load the "
     "driver with NVreg_RestrictProfilingToAdminUsers=0"},
    {CUPTI_ERROR_HARDWARE_BUSY, "another program reads the GPU's counters",
     "stop it; DCGM's monitoring can be paused with `dcgmi profiling --pause`"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "this virtual GPU has no hardware counters",
     "use a whole GPU, or a vGPU type with profiling"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, "profiling is not enabled for this virtual GPU",
     "ask the host's administrator to set enable_profiling=1 for the vGPU"},
    {CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, "counters are closed in confidential computing mode",
     "measure on a machine without it"},
    {CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, "mining cards have no counters", "measure on another GPU"},
    {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, "DRAM counters cannot be read from a MIG slice",
     "measure with MIG off: nvidia-smi -mig 0"},
    {CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, "counters are closed with SLI on", "turn SLI off"},
    {CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, "counters are closed in this WSL", "measure in native Linux"},
    {CUPTI_ERROR_INVALID_CHIP_NAME, "this CUPTI does not know the GPU's chip", "use a newer CUDA toolkit's CUPTI"},
    {CUPTI_ERROR_NOT_INITIALIZED, "CUPTI does not start: its libnvperf_host.so may be missing",
     "put it beside libcupti: both come with the toolkit, and with the wheel nvidia-cuda-cupti"},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "another tool in this process has CUPTI",
     "run without nsys, ncu or another profiler"},
};

template <typename Function>
void resolve(void* library, const char* symbol, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  if (function == nullptr && missing.empty()) missing = symbol;
}

std::string resolve_all(void* library, CountersApi& api) {
  std::string missing;
  resolve(library, "cuptiProfilerInitialize", api.initialize, missing);
  resolve(library, "cuptiProfilerDeInitialize", api.deinitialize, missing);
  resolve(library, "cuptiProfilerDeviceSupported", api.device_supported, missing);
  resolve(library, "cuptiDeviceGetChipName", api.chip_name, missing);
  resolve(library, "cuptiProfilerGetCounterAvailability", api.availability, missing);
  resolve(library, "cuptiProfilerHostInitialize", api.host_initialize, missing);
  resolve(library, "cuptiProfilerHostDeinitialize", api.host_deinitialize, missing);
  resolve(library, "cuptiProfilerHostConfigAddMetrics", api.add_metrics, missing);
  resolve(library, "cuptiProfilerHostGetConfigImageSize", api.config_size, missing);
  resolve(library, "cuptiProfilerHostGetConfigImage", api.config_image, missing);
  resolve(library, "cuptiProfilerHostGetNumOfPasses", api.passes, missing);
  resolve(library, "cuptiProfilerHostEvaluateToGpuValues", api.evaluate, missing);
  resolve(library, "cuptiRangeProfilerEnable", api.enable, missing);
  resolve(library, "cuptiRangeProfilerDisable", api.disable, missing);
  resolve(library, "cuptiRangeProfilerGetCounterDataSize", api.data_size, missing);
  resolve(library, "cuptiRangeProfilerCounterDataImageInitialize", api.data_initialize, missing);
  resolve(library, "cuptiRangeProfilerSetConfig", api.set_config, missing);
  resolve(library, "cuptiRangeProfilerStart", api.start, missing);
  resolve(library, "cuptiRangeProfilerStop", api.stop, missing);
  resolve(library, "cuptiRangeProfilerPushRange", api.push_range, missing);
  resolve(library, "cuptiRangeProfilerPopRange", api.pop_range, missing);
  resolve(library, "cuptiRangeProfilerDecodeData", api.decode, missing);
  resolve(library, "cuptiRangeProfilerGetCounterDataInfo", api.data_info, missing);
  return missing;
}

/// CUPTI opens what its counters need by its bare name: the one beside it has to be loaded by then, since a wheel's
/// folder is on no search path, and a search path may hold another version's. Here and not with CUPTI: it takes 0.1 s,
/// and the processes of a gate, which only time, are hundreds.
void load_beside_cupti(const void* symbol) {
  Dl_info info{};
  if (dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return;
  const auto folder = std::filesystem::path(info.dli_fname).parent_path();
  dlopen((folder / "libnvperf_host.so").c_str(), RTLD_NOW | RTLD_LOCAL);
}

/// Why counters cannot be had through `library`; empty, and `api` filled, when they can.
std::string load_api(CountersApi& api) {
  std::string problem;
  void* library = open_cupti(problem);
  if (library == nullptr) return problem;
  const auto get_version = reinterpret_cast<CUptiResult (*)(std::uint32_t*)>(dlsym(library, "cuptiGetVersion"));
  std::uint32_t version = 0;
  if (get_version == nullptr || get_version(&version) != CUPTI_SUCCESS) return "CUPTI does not say its version";
  if (const int major = cupti_major(version); major != kCuptiMajor) {
    return fmt::format("counters need the CUPTI of CUDA {}, the one found is of CUDA {}", kCuptiMajor, major);
  }
  if (const std::string missing = resolve_all(library, api); !missing.empty()) return "CUPTI has no " + missing;
  load_beside_cupti(dlsym(library, "cuptiGetVersion"));
  return {};
}

bool unknown_metric(int result) {
  return result == CUPTI_ERROR_INVALID_PARAMETER || result == CUPTI_ERROR_INVALID_METRIC_NAME;
}

}  // namespace

std::span<const DramMetrics> dram_metrics() { return kDramMetrics; }

model::Failure counters_failure(int result, const std::string& call) {
  for (const Cause& cause : kCauses) {
    if (cause.result == result)
      return {Outcome::kRejected, fmt::format("{} (error {} of {})", cause.reason, result, call), cause.remedy};
  }
  return {Outcome::kRejected, fmt::format("{} fails with CUPTI's error {}", call, result), {}};
}

model::Result<const CountersApi*> counters_api() {
  static CountersApi api;
  static const std::string problem = load_api(api);
  if (problem.empty()) return &api;
  return model::fail(Outcome::kRejected, problem, "install CUPTI of a CUDA 13 toolkit, or set $CUDA_HOME to one");
}

struct CounterHost::Impl {
  const CountersApi* api = nullptr;
  CUpti_Profiler_Host_Object* object = nullptr;
  DramMetrics metrics{};
  std::vector<std::uint8_t> config;
  std::size_t passes = 0;

  ~Impl() {
    if (object == nullptr) return;
    KTUNE_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
    params.pHostObject = object;
    api->host_deinitialize(&params);
  }

  /// CUPTI's result; the metrics in place when it is 0.
  int configure(const std::string& chip, std::span<const std::uint8_t> availability, std::string& call);
};

int CounterHost::Impl::configure(const std::string& chip, std::span<const std::uint8_t> availability,
                                 std::string& call) {
  KTUNE_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, host);
  host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  host.pChipName = chip.c_str();
  host.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  call = "cuptiProfilerHostInitialize";
  if (const int result = api->host_initialize(&host); result != CUPTI_SUCCESS) return result;
  object = host.pHostObject;
  KTUNE_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
  add.pHostObject = object;
  add.ppMetricNames = metrics.data();
  add.numMetrics = metrics.size();
  call = "cuptiProfilerHostConfigAddMetrics";
  if (const int result = api->add_metrics(&add); result != CUPTI_SUCCESS) return result;
  KTUNE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
  size.pHostObject = object;
  call = "cuptiProfilerHostGetConfigImageSize";
  if (const int result = api->config_size(&size); result != CUPTI_SUCCESS) return result;
  config.resize(size.configImageSize);
  KTUNE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, image);
  image.pHostObject = object;
  image.configImageSize = config.size();
  image.pConfigImage = config.data();
  call = "cuptiProfilerHostGetConfigImage";
  if (const int result = api->config_image(&image); result != CUPTI_SUCCESS) return result;
  KTUNE_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, count);
  count.configImageSize = config.size();
  count.pConfigImage = config.data();
  call = "cuptiProfilerHostGetNumOfPasses";
  const int result = api->passes(&count);
  passes = count.numOfPasses;
  return result;
}

CounterHost::CounterHost(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CounterHost::CounterHost(CounterHost&&) noexcept = default;
CounterHost& CounterHost::operator=(CounterHost&&) noexcept = default;
CounterHost::~CounterHost() = default;

model::Result<CounterHost> CounterHost::open(const std::string& chip, std::span<const std::uint8_t> availability) {
  const model::Result<const CountersApi*> api = counters_api();
  if (!api) return tl::unexpected(api.error());
  // The host's calls need it, and work after it failed for want of a driver.
  KTUNE_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, initialize);
  (*api)->initialize(&initialize);
  for (const DramMetrics& metrics : kDramMetrics) {
    auto impl = std::make_unique<Impl>();
    impl->api = *api;
    impl->metrics = metrics;
    std::string call;
    const int result = impl->configure(chip, availability, call);
    if (result == CUPTI_SUCCESS) return CounterHost(std::move(impl));
    if (impl->object == nullptr || !unknown_metric(result)) return tl::unexpected(counters_failure(result, call));
  }
  return model::fail(Outcome::kRejected, fmt::format("chip {} has no counter of DRAM bytes", chip));
}

const DramMetrics& CounterHost::metrics() const { return impl_->metrics; }
std::span<const std::uint8_t> CounterHost::config() const { return impl_->config; }
std::size_t CounterHost::passes() const { return impl_->passes; }

model::Result<DramTraffic> CounterHost::evaluate(std::span<const std::uint8_t> image) const {
  std::array<double, 2> values{};
  DramMetrics names = impl_->metrics;
  KTUNE_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
  params.pHostObject = impl_->object;
  params.pCounterDataImage = image.data();
  params.counterDataImageSize = image.size();
  params.rangeIndex = 0;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = values.data();
  if (const int result = impl_->api->evaluate(&params); result != CUPTI_SUCCESS) {
    return tl::unexpected(counters_failure(result, "cuptiProfilerHostEvaluateToGpuValues"));
  }
  if (!std::isfinite(values[0]) || !std::isfinite(values[1])) {
    return model::fail(Outcome::kRejected, "the GPU's counters gave no number");
  }
  return DramTraffic{std::llround(values[0]), std::llround(values[1])};
}

}  // namespace ktune::device::cuda
