#include "device/cuda/counters.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "device/cuda/counters_api.h"
#include "device/cuda/counters_host.h"

// One range that we open and close ourselves around the work, collected in one pass, so that nothing is replayed:
// kernels that update their operands in place count as they run. About a quarter of a second a range, set-up included.

namespace ktune::device::cuda {
namespace {

using model::Outcome;
using model::Status;

constexpr const char* kRangeName = "work";

tl::unexpected<model::Failure> failed(int result, const char* call) {
  return tl::unexpected(counters_failure(result, call));
}

/// Which of the conditions for profiling the GPU does not meet.
std::string unsupported(const CUpti_Profiler_DeviceSupported_Params& params) {
  const auto missing = [](CUpti_Profiler_Support_Level level) {
    return level != CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  };
  if (missing(params.architecture)) return "this GPU is too old for hardware counters (sm_75 or newer)";
  if (missing(params.sli)) return "counters are closed with SLI on";
  if (missing(params.vGpu)) return "this virtual GPU has no hardware counters, or they are not enabled";
  if (missing(params.confidentialCompute)) return "counters are closed in confidential computing mode";
  if (missing(params.cmp)) return "mining cards have no counters";
  if (missing(params.wsl)) return "counters are closed in this WSL";
  return "CUPTI does not profile this GPU";
}

}  // namespace

struct Counters::Impl {
  const CountersApi* api = nullptr;
  CUcontext context = nullptr;
  std::optional<CounterHost> host;
  CUpti_RangeProfiler_Object* object = nullptr;
  std::vector<std::uint8_t> image;

  ~Impl() {
    disable();
    host.reset();
    KTUNE_CUPTI_PARAMS(CUpti_Profiler_DeInitialize_Params, params);
    if (api != nullptr) api->deinitialize(&params);
  }

  void disable() {
    if (object == nullptr) return;
    KTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, params);
    params.pRangeProfilerObject = object;
    api->disable(&params);
    object = nullptr;
  }

  Status enable();
  Status configure();
  Status pass(const std::function<Status()>& work);
  Status decode();
};

Status Counters::Impl::enable() {
  KTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, enable_params);
  enable_params.ctx = context;
  if (const int result = api->enable(&enable_params); result != CUPTI_SUCCESS) {
    return failed(result, "cuptiRangeProfilerEnable");
  }
  object = enable_params.pRangeProfilerObject;
  DramMetrics names = host->metrics();
  KTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
  size.pRangeProfilerObject = object;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = 1;
  size.maxNumRangeTreeNodes = 1;
  if (const int result = api->data_size(&size); result != CUPTI_SUCCESS) {
    return failed(result, "cuptiRangeProfilerGetCounterDataSize");
  }
  image.assign(size.counterDataSize, 0);
  KTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, initialize);
  initialize.pRangeProfilerObject = object;
  initialize.counterDataSize = image.size();
  initialize.pCounterData = image.data();
  if (const int result = api->data_initialize(&initialize); result != CUPTI_SUCCESS) {
    return failed(result, "cuptiRangeProfilerCounterDataImageInitialize");
  }
  return {};
}

Status Counters::Impl::configure() {
  KTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, params);
  params.pRangeProfilerObject = object;
  params.configSize = host->config().size();
  params.pConfig = host->config().data();
  params.counterDataImageSize = image.size();
  params.pCounterDataImage = image.data();
  params.range = CUPTI_UserRange;
  params.replayMode = CUPTI_UserReplay;
  params.maxRangesPerPass = 1;
  params.numNestingLevels = 1;
  params.minNestingLevel = 1;
  params.passIndex = 0;
  params.targetNestingLevel = 1;
  if (const int result = api->set_config(&params); result != CUPTI_SUCCESS) {
    return failed(result, "cuptiRangeProfilerSetConfig");
  }
  return {};
}

/// What fails in the work is said only after the range is closed.
Status Counters::Impl::pass(const std::function<Status()>& work) {
  KTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, start);
  start.pRangeProfilerObject = object;
  if (const int result = api->start(&start); result != CUPTI_SUCCESS) return failed(result, "cuptiRangeProfilerStart");
  KTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, push);
  push.pRangeProfilerObject = object;
  push.pRangeName = kRangeName;
  const int pushed = api->push_range(&push);
  const Status done = pushed == CUPTI_SUCCESS ? work() : Status();
  KTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params, pop);
  pop.pRangeProfilerObject = object;
  const int popped = pushed == CUPTI_SUCCESS ? api->pop_range(&pop) : CUPTI_SUCCESS;
  KTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
  stop.pRangeProfilerObject = object;
  const int stopped = api->stop(&stop);
  if (!done) return done;
  if (pushed != CUPTI_SUCCESS) return failed(pushed, "cuptiRangeProfilerPushRange");
  if (popped != CUPTI_SUCCESS) return failed(popped, "cuptiRangeProfilerPopRange");
  if (stopped != CUPTI_SUCCESS) return failed(stopped, "cuptiRangeProfilerStop");
  if (stop.isAllPassSubmitted == 0) return model::fail(Outcome::kRejected, "the counters need more than one pass");
  return {};
}

Status Counters::Impl::decode() {
  KTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, params);
  params.pRangeProfilerObject = object;
  if (const int result = api->decode(&params); result != CUPTI_SUCCESS) {
    return failed(result, "cuptiRangeProfilerDecodeData");
  }
  KTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
  info.pCounterDataImage = image.data();
  info.counterDataImageSize = image.size();
  if (const int result = api->data_info(&info); result != CUPTI_SUCCESS) {
    return failed(result, "cuptiRangeProfilerGetCounterDataInfo");
  }
  if (params.numOfRangeDropped == 0 && info.numTotalRanges == 1) return {};
  return model::fail(Outcome::kRejected, fmt::format("CUPTI dropped {} ranges and kept {} of 1",
                                                     params.numOfRangeDropped, info.numTotalRanges));
}

Counters::Counters(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Counters::~Counters() = default;

model::Result<std::unique_ptr<Counters>> Counters::open(Context& context) {
  const model::Result<const CountersApi*> api = counters_api();
  if (!api) return tl::unexpected(api.error());
  KTUNE_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, initialize);
  if (const int result = (*api)->initialize(&initialize); result != CUPTI_SUCCESS) {
    return failed(result, "cuptiProfilerInitialize");
  }
  auto impl = std::make_unique<Impl>();
  impl->api = *api;
  impl->context = context.handle();
  KTUNE_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params, supported);
  supported.cuDevice = context.device();
  supported.api = CUPTI_PROFILER_RANGE_PROFILING;
  if (const int result = (*api)->device_supported(&supported); result != CUPTI_SUCCESS) {
    return failed(result, "cuptiProfilerDeviceSupported");
  }
  if (supported.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
    return model::fail(Outcome::kRejected, unsupported(supported));
  }
  KTUNE_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, chip);
  chip.deviceIndex = static_cast<std::size_t>(context.device());
  if (const int result = (*api)->chip_name(&chip); result != CUPTI_SUCCESS) {
    return failed(result, "cuptiDeviceGetChipName");
  }
  KTUNE_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, availability);
  availability.ctx = context.handle();
  int result = (*api)->availability(&availability);
  std::vector<std::uint8_t> image(result == CUPTI_SUCCESS ? availability.counterAvailabilityImageSize : 0);
  availability.pCounterAvailabilityImage = image.data();
  if (result == CUPTI_SUCCESS) result = (*api)->availability(&availability);
  if (result != CUPTI_SUCCESS) return failed(result, "cuptiProfilerGetCounterAvailability");
  model::Result<CounterHost> host = CounterHost::open(chip.pChipName, image);
  if (!host) return tl::unexpected(host.error());
  if (host->passes() != 1) {
    return model::fail(Outcome::kRejected,
                       fmt::format("DRAM counters need {} passes on {}", host->passes(), chip.pChipName));
  }
  impl->host.emplace(std::move(*host));
  return std::unique_ptr<Counters>(new Counters(std::move(impl)));
}

model::Result<DramTraffic> Counters::measure(const std::function<Status()>& work) {
  Impl& impl = *impl_;
  Status done = impl.enable();
  if (done) done = impl.configure();
  if (done) done = impl.pass(work);
  if (done) done = impl.decode();
  model::Result<DramTraffic> traffic = DramTraffic{};
  if (done) traffic = impl.host->evaluate(impl.image);
  impl.disable();
  if (!done) return tl::unexpected(done.error());
  return traffic;
}

}  // namespace ktune::device::cuda
