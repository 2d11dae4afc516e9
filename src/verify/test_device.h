#pragma once

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "device/host_memory.h"

// A device for tests whose memory is the host's and whose kernels are lambdas: the bytes are real, so that each fault
// is a real fault.

namespace ktune::verify {

using KernelArgs = std::vector<std::vector<std::byte>>;

template <typename T>
T argument(const KernelArgs& args, std::size_t index) {
  T value;
  std::memcpy(&value, args[index].data(), sizeof value);
  return value;
}

class TestDevice : public device::Device {
 public:
  std::map<std::string, std::function<void(const KernelArgs&)>> kernels;
  model::DeviceFacts device_facts;
  std::map<device::DevicePtr, std::int64_t> blocks;
  std::int64_t used = 0;

  TestDevice() { device_facts.memory_bytes = 64 << 20; }
  ~TestDevice() override {
    for (const auto& [pointer, bytes] : blocks) std::free(at(pointer));
  }

  const model::DeviceFacts& facts() const override { return device_facts; }
  model::MachineState state() override { return {}; }
  std::int64_t free_memory() override { return device_facts.memory_bytes - used; }
  model::Result<device::DevicePtr> allocate(std::int64_t bytes) override {
    if (bytes > free_memory()) return model::fail(model::Outcome::kLaunchFailed, "out of memory");
    void* block = std::aligned_alloc(256, static_cast<std::size_t>((bytes + 255) / 256 * 256));
    const auto pointer = reinterpret_cast<device::DevicePtr>(block);
    blocks[pointer] = bytes;
    used += bytes;
    return pointer;
  }
  void release(device::DevicePtr pointer) override {
    used -= blocks.at(pointer);
    blocks.erase(pointer);
    std::free(at(pointer));
  }
  model::Status initialise(device::DevicePtr base, const model::TensorPlan& plan, std::uint64_t seed) override {
    device::host_initialise(at(base), plan, seed);
    return {};
  }
  model::Status poison(device::DevicePtr pointer, std::int64_t bytes, std::uint32_t pattern) override {
    device::host_poison(at(pointer), bytes, pattern);
    return {};
  }
  model::Status copy(device::DevicePtr to, device::DevicePtr from, std::int64_t bytes) override {
    std::memcpy(at(to), at(from), static_cast<std::size_t>(bytes));
    return {};
  }
  model::Status read(void* to, device::DevicePtr from, std::int64_t bytes) override {
    std::memcpy(to, at(from), static_cast<std::size_t>(bytes));
    return {};
  }
  model::Status write(device::DevicePtr to, const void* from, std::int64_t bytes) override {
    std::memcpy(at(to), from, static_cast<std::size_t>(bytes));
    return {};
  }
  model::Result<std::int64_t> first_changed(device::DevicePtr pointer, std::int64_t bytes,
                                            std::uint32_t pattern) override {
    return device::host_first_changed(at(pointer), bytes, pattern);
  }
  model::Result<device::CompareResult> compare(device::DevicePtr out, device::DevicePtr reference,
                                               const model::TensorPlan& plan, device::Poison poison,
                                               device::Share share) override {
    return device::host_compare(at(out), at(reference), plan, poison, share);
  }
  model::Result<std::uint64_t> checksum(device::DevicePtr pointer, std::int64_t bytes) override {
    return device::host_checksum(at(pointer), bytes);
  }
  model::Result<device::ModuleId> load(const model::KernelBinary& /*binary*/) override { return 0; }
  void unload(device::ModuleId /*module*/) override {}
  model::Result<model::KernelResources> resources(device::ModuleId /*module*/, const std::string&) override {
    return model::KernelResources{};
  }
  model::Status check(const device::PreparedLaunch& launch) override {
    if (launch.plan.smem_bytes <= 232448) return {};
    return model::fail(model::Outcome::kRejected, "needs too much shared memory");
  }
  model::Status launch(const device::LaunchSequence& sequence) override {
    for (const device::PreparedLaunch& launch : sequence) {
      const auto kernel = kernels.find(launch.kernel);
      if (kernel == kernels.end()) return model::fail(model::Outcome::kLaunchFailed, "no kernel " + launch.kernel);
      kernel->second(launch.args);
    }
    return {};
  }
  model::Status synchronize() override { return {}; }
  model::Result<device::Timed> time(std::span<const device::TimedCall> rotation,
                                    const device::TimingRequest& request) override {
    device::Timed timed;
    for (int i = 0; i < request.samples && !timed.wrong; ++i) {
      const device::TimedCall& call = rotation[static_cast<std::size_t>(i) % rotation.size()];
      if (const model::Status done = launch_fresh(*this, call); !done) return tl::unexpected(done.error());
      timed.time_us.push_back(5.0);
      auto wrong = check_outputs(*this, rotation, i, device::kHostCheckedBytes);
      if (!wrong) return tl::unexpected(wrong.error());
      timed.wrong = *wrong;
    }
    return timed;
  }
  std::vector<model::Timer> timers() const override { return {model::Timer::kHost}; }

  static void* at(device::DevicePtr pointer) { return reinterpret_cast<void*>(pointer); }
};

/// A contiguous tensor.
inline model::TensorPlan tensor(const std::string& name, model::Role role, std::vector<std::int64_t> shape,
                                model::DType dtype = model::DType::kF32) {
  model::TensorPlan plan;
  plan.name = name;
  plan.role = role;
  plan.dtype = dtype;
  plan.shape = std::move(shape);
  plan.strides.assign(plan.shape.size(), 1);
  for (std::size_t i = plan.shape.size(); i-- > 1;) plan.strides[i - 1] = plan.strides[i] * plan.shape[i];
  plan.storage = plan.shape.empty() ? 1 : plan.strides[0] * plan.shape[0];
  plan.tolerance = {1e-5, 1e-5};
  return plan;
}

inline model::ArgPlan tensor_argument(const std::string& name) {
  model::ArgPlan arg;
  arg.kind = model::ArgPlan::Kind::kTensor;
  arg.tensor = name;
  return arg;
}

inline model::LaunchPlan launch_of(const std::string& kernel, const std::vector<std::string>& tensors) {
  model::LaunchPlan plan;
  plan.kernel = kernel;
  for (const std::string& name : tensors) plan.args.push_back(tensor_argument(name));
  return plan;
}

}  // namespace ktune::verify
