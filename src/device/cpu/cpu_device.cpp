#include "device/cpu/cpu_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "base/error.h"
#include "base/text.h"
#include "device/cpu/block_pool.h"
#include "device/cpu/cache_flush.h"
#include "device/cpu/crash_report.h"
#include "device/cpu/host_facts.h"
#include "device/cpu/host_toolchain.h"
#include "device/cpu/launch_check.h"
#include "device/host_memory.h"

namespace ktune::device {
namespace {

using model::Outcome;

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kStackBytes = 128 * 1024;
/// Frames grow under the sanitizers, and a report is written on the kernel's stack.
constexpr std::size_t kSanitizedStackBytes = 512 * 1024;

void* at(DevicePtr pointer) { return reinterpret_cast<void*>(pointer); }

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(bool sanitize)
      : facts_(cpu::host_facts(sanitize, cpu::block_threads(sanitize))),
        pool_(facts_.sm_count, cpu::kMaxBlockThreads,
              cpu::sanitizer_hooks().address() ? kSanitizedStackBytes : kStackBytes, sanitize),
        flush_(facts_.l2_bytes) {
    cpu::install_crash_handlers();
  }

  ~CpuDevice() override {
    for (const auto& [pointer, bytes] : allocations_) std::free(at(pointer));
  }

  const model::DeviceFacts& facts() const override { return facts_; }
  model::MachineState state() override { return cpu::host_state(); }

  model::Result<DevicePtr> allocate(std::int64_t bytes) override;
  void release(DevicePtr pointer) override;
  model::Status initialise(DevicePtr base, const model::TensorPlan& plan, std::uint64_t seed) override {
    host_initialise(at(base), plan, seed);
    return {};
  }
  model::Status poison(DevicePtr pointer, std::int64_t bytes, std::uint32_t pattern) override {
    host_poison(at(pointer), bytes, pattern);
    return {};
  }
  model::Status copy(DevicePtr to, DevicePtr from, std::int64_t bytes) override {
    std::memmove(at(to), at(from), static_cast<std::size_t>(bytes));
    return {};
  }
  model::Status read(void* to, DevicePtr from, std::int64_t bytes) override {
    std::memcpy(to, at(from), static_cast<std::size_t>(bytes));
    return {};
  }
  model::Status write(DevicePtr to, const void* from, std::int64_t bytes) override {
    std::memcpy(at(to), from, static_cast<std::size_t>(bytes));
    return {};
  }
  model::Result<std::int64_t> first_changed(DevicePtr pointer, std::int64_t bytes, std::uint32_t pattern) override {
    return host_first_changed(at(pointer), bytes, pattern);
  }
  model::Result<CompareResult> compare(DevicePtr out, DevicePtr reference, const model::TensorPlan& plan, Poison poison,
                                       Share share) override {
    return host_compare(at(out), at(reference), plan, poison, share);
  }
  model::Result<std::uint64_t> checksum(DevicePtr pointer, std::int64_t bytes) override {
    return host_checksum(at(pointer), bytes);
  }

  model::Result<ModuleId> load(const model::KernelBinary& binary) override;
  void unload(ModuleId module) override { objects_.erase(module); }
  model::Result<model::KernelResources> resources(ModuleId module, const std::string& kernel) override;
  model::Status check(const PreparedLaunch& launch) override;
  model::Status launch(const LaunchSequence& sequence) override;
  model::Status synchronize() override { return {}; }

  model::Result<Timed> time(std::span<const TimedCall> rotation, const TimingRequest& request) override;
  std::vector<model::Timer> timers() const override { return {model::Timer::kHost}; }

 private:
  model::Result<const ktune_cpu::Entry*> find(ModuleId module, const std::string& kernel) const;
  model::Status launch_one(const PreparedLaunch& launch);

  model::DeviceFacts facts_;
  cpu::BlockPool pool_;
  cpu::CacheFlush flush_;
  std::map<DevicePtr, std::int64_t> allocations_;
  std::map<ModuleId, cpu::KernelObject> objects_;
  ModuleId next_module_ = 0;
};

model::Result<DevicePtr> CpuDevice::allocate(std::int64_t bytes) {
  void* memory = nullptr;
  // Exactly the size asked for, never rounded up: a sanitizer then knows the end.
  const std::size_t size = std::max<std::size_t>(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0)), 1);
  const bool too_large = facts_.memory_bytes > 0 && bytes > facts_.memory_bytes;
  if (bytes < 0 || too_large || posix_memalign(&memory, kAlignment, size) != 0) {
    return model::fail_transient(Outcome::kRejected,
                                 fmt::format("{} of memory are not to be had, the host has {}", format_bytes(bytes),
                                             format_bytes(facts_.memory_bytes)));
  }
  const auto pointer = reinterpret_cast<DevicePtr>(memory);
  allocations_[pointer] = bytes;
  return pointer;
}

void CpuDevice::release(DevicePtr pointer) {
  if (allocations_.erase(pointer) == 1) std::free(at(pointer));
}

model::Result<ModuleId> CpuDevice::load(const model::KernelBinary& binary) {
  if (binary.target != facts_.target) {
    return model::fail(Outcome::kLaunchFailed,
                       fmt::format("a kernel compiled for {} does not run on {}", binary.target, facts_.target));
  }
  auto object = cpu::KernelObject::load(binary.path);
  if (!object) return tl::unexpected(object.error());
  objects_.emplace(next_module_, std::move(*object));
  return next_module_++;
}

model::Result<const ktune_cpu::Entry*> CpuDevice::find(ModuleId module, const std::string& kernel) const {
  const auto object = objects_.find(module);
  if (object == objects_.end()) return model::fail(Outcome::kLaunchFailed, "the module is not loaded");
  const ktune_cpu::Entry* entry = object->second.find(kernel);
  if (entry != nullptr) return entry;
  const std::vector<std::string> names = object->second.kernels();
  return model::fail(Outcome::kLaunchFailed,
                     fmt::format("no kernel named '{}' in the module{}", kernel, did_you_mean(kernel, names)));
}

model::Result<model::KernelResources> CpuDevice::resources(ModuleId module, const std::string& kernel) {
  const auto entry = find(module, kernel);
  if (!entry) return tl::unexpected(entry.error());
  model::KernelResources resources;  // a host has no such registers: −1
  const cpu::KernelObject& object = objects_.at(module);
  // The loader knows the shared memory of an object, not of each of its kernels.
  if (object.kernels().size() == 1 && facts_.target == "cpu") {
    resources.shared_bytes = static_cast<int>(object.static_shared_bytes());
  }
  return resources;
}

model::Status CpuDevice::check(const PreparedLaunch& launch) {
  const auto entry = find(launch.module, launch.kernel);
  if (!entry) return tl::unexpected(entry.error());
  return cpu::check_limits(launch, facts_);
}

model::Status CpuDevice::launch_one(const PreparedLaunch& launch) {
  const auto entry = find(launch.module, launch.kernel);
  if (!entry) return tl::unexpected(entry.error());
  if (auto limits = cpu::check_limits(launch, facts_); !limits) {
    return model::fail(Outcome::kLaunchFailed, limits.error().reason);
  }
  if (auto matching = cpu::check_arguments(launch, **entry); !matching) return matching;
  std::vector<const void*> args;
  for (const std::vector<std::byte>& arg : launch.args) args.push_back(arg.data());
  const auto index = [](const std::array<std::int64_t, 3>& of) {
    return ktune_cpu::Index3{static_cast<unsigned>(of[0]), static_cast<unsigned>(of[1]), static_cast<unsigned>(of[2])};
  };
  cpu::KernelCall call;
  call.run = (*entry)->run;
  call.args = args.data();
  call.grid = index(launch.plan.grid);
  call.block = index(launch.plan.block);
  call.name = (*entry)->name;
  auto fault = pool_.run(call, objects_.at(launch.module), static_cast<std::size_t>(launch.plan.smem_bytes));
  if (fault) return model::fail(Outcome::kLaunchFailed, *fault);
  return {};
}

model::Status CpuDevice::launch(const LaunchSequence& sequence) {
  for (const PreparedLaunch& launch : sequence) {
    if (auto status = launch_one(launch); !status) return status;
  }
  return {};
}

model::Result<Timed> CpuDevice::time(std::span<const TimedCall> rotation, const TimingRequest& request) {
  if (request.timer != model::Timer::kHost) {
    return model::fail(Outcome::kRejected,
                       fmt::format("the CPU device has no timer '{}'", model::name_of(request.timer)));
  }
  Timed timed;
  for (int i = 0; i < request.samples && !timed.wrong; ++i) {
    const TimedCall& call = rotation[static_cast<std::size_t>(i) % rotation.size()];
    if (auto status = renew(*this, call); !status) return tl::unexpected(status.error());
    flush_.prepare(request.cache_state);
    const auto start = std::chrono::steady_clock::now();
    if (auto status = launch(call.launches); !status) return tl::unexpected(status.error());
    const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
    timed.time_us.push_back(elapsed.count());
    auto wrong = check_outputs(*this, rotation, i, kHostCheckedBytes);
    if (!wrong) return tl::unexpected(wrong.error());
    timed.wrong = *wrong;
  }
  return timed;
}

}  // namespace

std::unique_ptr<Device> open_cpu_device(bool sanitize) {
  if (sanitize && !cpu::sanitizer_hooks().address()) {
    throw Error(ErrorKind::kEnvironment, "this process was started without the sanitizer's library",
                "sanitized kernels run in a worker: `ktune verify --sanitize`, or preload " +
                    cpu::sanitizer_runtime().string());
  }
  return std::make_unique<CpuDevice>(sanitize);
}

std::vector<std::pair<std::string, std::string>> sanitizer_environment() {
  return {{"LD_PRELOAD", cpu::sanitizer_runtime().string()},
          // Leaks are the worker's business, and looking for them takes a second at its end.
          {"ASAN_OPTIONS", "detect_leaks=0:exitcode=1:allocator_may_return_null=1"},
          // The frames name the caller where the access itself stands in a header.
          {"UBSAN_OPTIONS", "print_stacktrace=1"}};
}

}  // namespace ktune::device
