#include "device/cuda/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace ktune::device::cuda {
namespace {

using Handle = struct OpaqueNvmlDevice*;

constexpr int kSuccess = 0;
constexpr unsigned kClockSm = 1;
constexpr unsigned kClockMemory = 2;
constexpr unsigned kTemperatureGpu = 0;

struct ProcessInfo {  // nvmlProcessInfo_t of the _v3 call
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};
static_assert(sizeof(ProcessInfo) == 24);

}  // namespace

struct Nvml::Impl {
  void* library = nullptr;
  Handle device = nullptr;
  std::string problem;

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*by_uuid)(const char*, Handle*) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*clock)(Handle, unsigned, unsigned*) = nullptr;
  int (*power_mw)(Handle, unsigned*) = nullptr;
  int (*power_limit_mw)(Handle, unsigned*) = nullptr;
  int (*temperature)(Handle, unsigned, unsigned*) = nullptr;
  int (*event_reasons)(Handle, unsigned long long*) = nullptr;
  int (*ecc)(Handle, unsigned*, unsigned*) = nullptr;
  int (*mig)(Handle, unsigned*, unsigned*) = nullptr;
  int (*processes)(Handle, unsigned*, ProcessInfo*) = nullptr;
  bool initialised = false;
  bool slice = false;  ///< a MIG instance

  template <typename Function>
  void resolve(Function& function, const char* symbol, const char* older = nullptr) {
    function = reinterpret_cast<Function>(dlsym(library, symbol));
    if (function == nullptr && older != nullptr) function = reinterpret_cast<Function>(dlsym(library, older));
  }

  void resolve_all() {
    resolve(init, "nvmlInit_v2");
    resolve(shutdown, "nvmlShutdown");
    resolve(by_uuid, "nvmlDeviceGetHandleByUUID");
    resolve(driver_version, "nvmlSystemGetDriverVersion");
    resolve(clock, "nvmlDeviceGetClockInfo");
    resolve(power_mw, "nvmlDeviceGetPowerUsage");
    resolve(power_limit_mw, "nvmlDeviceGetEnforcedPowerLimit");
    resolve(temperature, "nvmlDeviceGetTemperature");
    resolve(event_reasons, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons");
    resolve(ecc, "nvmlDeviceGetEccMode");
    resolve(mig, "nvmlDeviceGetMigMode");
    resolve(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  }

  double clock_mhz(unsigned type) const {
    unsigned mhz = 0;
    return device != nullptr && clock != nullptr && clock(device, type, &mhz) == kSuccess ? mhz : -1.0;
  }

  /// Compute processes beside this one.
  int others() const {
    std::array<ProcessInfo, 256> list{};
    auto count = static_cast<unsigned>(list.size());
    if (device == nullptr || processes == nullptr || processes(device, &count, list.data()) != kSuccess) return 0;
    const auto end = list.begin() + std::min<std::size_t>(count, list.size());
    const auto mine = static_cast<unsigned>(getpid());
    const bool listed = std::any_of(list.begin(), end, [mine](const ProcessInfo& info) { return info.pid == mine; });
    const int total = static_cast<int>(count);
    // In a container processes are listed by the host's ids: one of them is this one all the same.
    return listed || total > 0 ? total - 1 : 0;
  }
};

Nvml::Nvml(const std::string& uuid) : impl_(std::make_unique<Impl>()) {
  Impl& impl = *impl_;
  impl.library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (impl.library == nullptr) {
    impl.problem = "libnvidia-ml.so.1 cannot be opened";
    return;
  }
  impl.resolve_all();
  if (impl.init == nullptr || impl.by_uuid == nullptr) {
    impl.problem = "libnvidia-ml.so.1 is too old";
    return;
  }
  if (const int result = impl.init(); result != kSuccess) {
    impl.problem = fmt::format("NVML does not start: error {}", result);
    return;
  }
  impl.initialised = true;
  if (impl.by_uuid(("GPU-" + uuid).c_str(), &impl.device) == kSuccess) return;
  if (const int result = impl.by_uuid(("MIG-" + uuid).c_str(), &impl.device); result != kSuccess) {
    impl.device = nullptr;
    impl.problem = fmt::format("NVML does not know GPU-{}: error {}", uuid, result);
    return;
  }
  impl.slice = true;
}

Nvml::~Nvml() {
  if (impl_->initialised && impl_->shutdown != nullptr) impl_->shutdown();
  if (impl_->library != nullptr) dlclose(impl_->library);
}

void Nvml::fill(model::DeviceFacts& facts) const {
  const Impl& impl = *impl_;
  std::array<char, 96> version{};
  if (impl.initialised && impl.driver_version != nullptr &&
      impl.driver_version(version.data(), static_cast<unsigned>(version.size())) == kSuccess) {
    facts.driver = version.data();
  }
  if (impl.device == nullptr) return;
  unsigned now = 0;
  unsigned later = 0;
  if (impl.power_limit_mw != nullptr && impl.power_limit_mw(impl.device, &now) == kSuccess) {
    facts.power_limit_w = now / 1e3;
  }
  if (impl.ecc != nullptr && impl.ecc(impl.device, &now, &later) == kSuccess) facts.ecc = static_cast<int>(now);
  if (impl.mig != nullptr && impl.mig(impl.device, &now, &later) == kSuccess) facts.mig = static_cast<int>(now);
  if (impl.slice) {
    facts.mig = 1;
    if (facts.uuid.starts_with("GPU-")) facts.uuid.replace(0, 4, "MIG-");
  }
}

model::MachineState Nvml::state() const {
  const Impl& impl = *impl_;
  model::MachineState state;
  state.sm_clock_mhz = impl.clock_mhz(kClockSm);
  state.memory_clock_mhz = impl.clock_mhz(kClockMemory);
  state.other_processes = impl.others();
  if (impl.device == nullptr) return state;
  unsigned value = 0;
  if (impl.power_mw != nullptr && impl.power_mw(impl.device, &value) == kSuccess) state.power_w = value / 1e3;
  if (impl.temperature != nullptr && impl.temperature(impl.device, kTemperatureGpu, &value) == kSuccess) {
    state.temperature_c = value;
  }
  unsigned long long bits = 0;
  if (impl.event_reasons != nullptr && impl.event_reasons(impl.device, &bits) == kSuccess) state.throttle_bits = bits;
  return state;
}

const std::string& Nvml::problem() const { return impl_->problem; }

}  // namespace ktune::device::cuda
