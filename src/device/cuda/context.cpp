#include "device/cuda/context.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "device/cuda/init_errors.h"

namespace ktune::device::cuda {
namespace {

CUdevice find_device(const Driver& api, int ordinal) {
  int count = 0;
  if (const CUresult result = api.device_get_count(&count); result != CUDA_SUCCESS) {
    throw_init_error(result, api.text(result));
  }
  if (count == 0) throw_init_error(kNoDevice, "");
  if (ordinal < 0 || ordinal >= count) {
    throw Error(ErrorKind::kEnvironment, fmt::format("there is no cuda:{}: the driver sees {} GPU(s)", ordinal, count),
                count == 1 ? "use --device cuda:0" : fmt::format("use cuda:0 to cuda:{}", count - 1));
  }
  CUdevice device = 0;
  if (const CUresult result = api.device_get(&device, ordinal); result != CUDA_SUCCESS) {
    throw_init_error(result, api.text(result));
  }
  return device;
}

std::string uuid_of(const Driver& api, CUdevice device) {
  CUuuid uuid{};
  if (api.device_get_uuid(&uuid, device) != CUDA_SUCCESS) return {};
  std::string text;
  for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

[[noreturn]] void cannot_open(const Driver& api, CUresult result, const std::string& name) {
  const char* hint = "check that nvidia-smi works and that the GPU is healthy (dmesg, Xid errors)";
  if (result == CUDA_ERROR_DEVICE_UNAVAILABLE) {
    hint = "another process has the GPU to itself (compute mode EXCLUSIVE_PROCESS): stop it, or nvidia-smi -c DEFAULT";
  } else if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    hint = "another process has taken the GPU's memory: see nvidia-smi";
  }
  throw Error(ErrorKind::kEnvironment, fmt::format("{} cannot be opened: {}", name, api.text(result)), hint);
}

}  // namespace

Context::Context(int ordinal, const std::function<Toolkit()>& toolkit)
    : api_(driver()), device_(find_device(api_, ordinal)), uuid_(uuid_of(api_, device_)), nvml_(uuid_) {
  read_facts();
  const Toolkit compiler = toolkit();
  facts_.toolkit = compiler.name;
  check_driver_version(facts_.driver_cuda, compiler.major, compiler.minor);
  CUresult result = api_.primary_ctx_retain(&context_, device_);
  if (result == CUDA_SUCCESS) result = api_.ctx_set_current(context_);
  if (result == CUDA_SUCCESS) result = api_.stream_create(&stream_, CU_STREAM_NON_BLOCKING);
  if (result != CUDA_SUCCESS) cannot_open(api_, result, facts_.name);
}

Context::~Context() {
  if (stream_ != nullptr) api_.stream_destroy(stream_);
  if (context_ != nullptr) api_.primary_ctx_release(device_);
}

int Context::attribute(CUdevice_attribute which) const {
  int value = 0;
  return api_.device_get_attribute(&value, which, device_) == CUDA_SUCCESS ? value : 0;
}

void Context::read_facts() {
  std::array<char, 256> name{};
  api_.device_get_name(name.data(), static_cast<int>(name.size()) - 1, device_);
  std::size_t memory = 0;
  api_.device_total_mem(&memory, device_);
  facts_.kind = "cuda";
  facts_.name = name.data();
  facts_.uuid = "GPU-" + uuid_;
  facts_.sm = 10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
              attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  facts_.target = fmt::format("sm_{}", facts_.sm);
  facts_.sm_count = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  facts_.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  facts_.smem_optin = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  facts_.max_threads = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  facts_.registers_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  facts_.memory_bytes = static_cast<std::int64_t>(memory);
  facts_.memory_clock_mhz = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) / 1000;
  facts_.bus_bits = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  facts_.spec_gbps = 2.0 * attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) * 1e3 * facts_.bus_bits / 8.0 / 1e9;
  api_.driver_get_version(&facts_.driver_cuda);
  nvml_.fill(facts_);

  limits_.sm = facts_.sm;
  limits_.max_threads = facts_.max_threads;
  limits_.registers_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  limits_.smem_optin = facts_.smem_optin;
}

model::Status Context::status(CUresult result, const std::string& doing, model::Outcome outcome) {
  if (model::Status usable_status = usable(); !usable_status) return usable_status;
  if (result == CUDA_SUCCESS) return {};
  const std::string reason = fmt::format("{}: {}", doing, api_.text(result));
  if (!is_fatal(result)) return model::fail(outcome, reason);
  lost_ = reason;
  return model::fail(model::Outcome::kCrashed, reason);
}

model::Status Context::usable() const {
  if (lost_.empty()) return {};
  return model::fail(model::Outcome::kCrashed, lost_);
}

model::Status Context::synchronize(const std::string& doing) { return status(api_.stream_synchronize(stream_), doing); }

}  // namespace ktune::device::cuda
