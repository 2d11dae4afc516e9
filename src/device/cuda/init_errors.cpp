#include "device/cuda/init_errors.h"

#include <fmt/format.h>

#include "base/error.h"

namespace ktune::device::cuda {
namespace {

constexpr int kOldestDriver = 12000;

// CUresult's numbers: this file needs no cuda.h, so that its tests do not either.
constexpr int kStubLibrary = 34;
constexpr int kOperatingSystem = 304;
constexpr int kSystemNotReady = 802;
constexpr int kDriverMismatch = 803;
constexpr int kCompatUnsupported = 804;

}  // namespace

void throw_init_error(int result, const std::string& text) {
  const auto environment = [](const std::string& message, const char* hint) {
    throw Error(ErrorKind::kEnvironment, message, hint);
  };
  switch (result) {
    case kNoDevice:
      environment("the NVIDIA driver sees no GPU",
                  "check nvidia-smi and CUDA_VISIBLE_DEVICES (empty hides every GPU; with MIG on, an instance must "
                  "exist), or use "
                  "--device cpu");
      break;
    case kStubLibrary:
      environment("the libcuda.so.1 found is the toolkit's stub, not a driver",
                  "remove the toolkit's stubs folder from LD_LIBRARY_PATH");
      break;
    case kDriverMismatch:
      environment("the NVIDIA driver's library and kernel module are of different versions",
                  "restart the machine, or reload the nvidia kernel modules, after a driver update");
      break;
    case kCompatUnsupported:
      environment("CUDA's forward compatibility package does not support this GPU",
                  "remove the cuda-compat folder from LD_LIBRARY_PATH and use the machine's own driver");
      break;
    case kSystemNotReady:
      environment("the machine's GPU fabric is not ready", "start nvidia-fabricmanager and wait until it has");
      break;
    case kOperatingSystem:
      environment(fmt::format("the NVIDIA driver cannot be used: {}", text),
                  "check that /dev/nvidia* exist and may be opened");
      break;
    default:
      environment(fmt::format("the NVIDIA driver does not start: {}", text),
                  "check that nvidia-smi works for this user; --device cpu works without a GPU");
  }
  bug("throw_init_error returned", __FILE__, __LINE__);
}

void check_driver_version(int driver_cuda, int nvrtc_major, int nvrtc_minor) {
  const std::string has = fmt::format("{}.{}", driver_cuda / 1000, driver_cuda % 1000 / 10);
  if (driver_cuda < kOldestDriver) {
    throw Error(ErrorKind::kEnvironment,
                fmt::format("the NVIDIA driver is too old: it supports CUDA {}, ktune needs {}.{}", has,
                            kOldestDriver / 1000, kOldestDriver % 1000 / 10),
                "update the driver");
  }
  if (nvrtc_major > driver_cuda / 1000) {
    throw Error(ErrorKind::kEnvironment,
                fmt::format("the NVIDIA driver supports CUDA {} and cannot load what NVRTC {}.{} compiles", has,
                            nvrtc_major, nvrtc_minor),
                fmt::format("update the driver to one for CUDA {}.0 or newer, or set CUDA_HOME to a toolkit {}.x",
                            nvrtc_major, driver_cuda / 1000));
  }
}

}  // namespace ktune::device::cuda
