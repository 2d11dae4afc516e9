#pragma once

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>

#include "model/outcome.h"

// The range profiler's functions, found at run time. Only the counters' own files see CUPTI's headers.

namespace ktune::device::cuda {

struct CountersApi {
  decltype(&::cuptiProfilerInitialize) initialize = nullptr;
  decltype(&::cuptiProfilerDeInitialize) deinitialize = nullptr;
  decltype(&::cuptiProfilerDeviceSupported) device_supported = nullptr;
  decltype(&::cuptiDeviceGetChipName) chip_name = nullptr;
  decltype(&::cuptiProfilerGetCounterAvailability) availability = nullptr;
  decltype(&::cuptiProfilerHostInitialize) host_initialize = nullptr;
  decltype(&::cuptiProfilerHostDeinitialize) host_deinitialize = nullptr;
  decltype(&::cuptiProfilerHostConfigAddMetrics) add_metrics = nullptr;
  decltype(&::cuptiProfilerHostGetConfigImageSize) config_size = nullptr;
  decltype(&::cuptiProfilerHostGetConfigImage) config_image = nullptr;
  decltype(&::cuptiProfilerHostGetNumOfPasses) passes = nullptr;
  decltype(&::cuptiProfilerHostEvaluateToGpuValues) evaluate = nullptr;
  decltype(&::cuptiRangeProfilerEnable) enable = nullptr;
  decltype(&::cuptiRangeProfilerDisable) disable = nullptr;
  decltype(&::cuptiRangeProfilerGetCounterDataSize) data_size = nullptr;
  decltype(&::cuptiRangeProfilerCounterDataImageInitialize) data_initialize = nullptr;
  decltype(&::cuptiRangeProfilerSetConfig) set_config = nullptr;
  decltype(&::cuptiRangeProfilerStart) start = nullptr;
  decltype(&::cuptiRangeProfilerStop) stop = nullptr;
  decltype(&::cuptiRangeProfilerPushRange) push_range = nullptr;
  decltype(&::cuptiRangeProfilerPopRange) pop_range = nullptr;
  decltype(&::cuptiRangeProfilerDecodeData) decode = nullptr;
  decltype(&::cuptiRangeProfilerGetCounterDataInfo) data_info = nullptr;
};

/// Loaded once for the process. kRejected where CUPTI is missing, of another major version or lacks a function.
model::Result<const CountersApi*> counters_api();

/// An empty parameter block, as CUPTI wants it: its size first, so that fields of later versions are known to be
/// absent.
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration's name takes none.
#define KTUNE_CUPTI_PARAMS(type, name) \
  type name{};                         \
  name.structSize = type##_STRUCT_SIZE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace ktune::device::cuda
