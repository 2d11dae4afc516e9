#include "device/fake/fake_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <map>
#include <numbers>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "device/fake/script.h"

namespace ktune::device {
namespace {

using model::Outcome;
using Played = ScriptedTrial::Outcome;
using Fault = ScriptedTrial::Fault;

constexpr DevicePtr kFirstAddress = 0x100000;
constexpr std::int64_t kPage = 4096;

/// Normal numbers that are the same on every machine (splitmix64, Box-Muller).
class NormalStream {
 public:
  explicit NormalStream(std::uint64_t seed) : state_(seed) {}

  double next() {
    const double u = (static_cast<double>(bits() >> 11) + 1.0) * 0x1p-53;
    const double v = static_cast<double>(bits() >> 11) * 0x1p-53;
    return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
  }

 private:
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

struct Module {
  ScriptedTrial trial;
  NormalStream stream{0};
  std::size_t played = 0;
  bool timed = false;
};

/// What stands in one allocation: not bytes, only whose.
struct Block {
  std::int64_t bytes = 0;
  bool written = false;  ///< by a launch, since it was last poisoned or copied to
  Fault fault = Fault::kMismatch;
  bool faulty = false;  ///< the last launch that wrote it was wrong
  bool overrun = false;
  std::uint64_t version = 0;
};

class FakeDevice final : public Device {
 public:
  explicit FakeDevice(Script script) : script_(std::move(script)) {}

  const model::DeviceFacts& facts() const override { return script_.facts; }
  model::MachineState state() override;
  void announce(const std::string& op, const std::string& problem, const std::string& variant) override;
  std::int64_t free_memory() override { return script_.facts.memory_bytes - used_; }

  model::Result<DevicePtr> allocate(std::int64_t bytes) override;
  void release(DevicePtr pointer) override;
  model::Status initialise(DevicePtr base, const model::TensorPlan& plan, std::uint64_t seed) override;
  model::Status poison(DevicePtr pointer, std::int64_t bytes, std::uint32_t pattern) override;
  model::Status copy(DevicePtr to, DevicePtr from, std::int64_t bytes) override;
  model::Status read(void* to, DevicePtr from, std::int64_t bytes) override;
  model::Status write(DevicePtr to, const void* from, std::int64_t bytes) override;
  model::Result<std::int64_t> first_changed(DevicePtr pointer, std::int64_t bytes, std::uint32_t pattern) override;
  model::Result<CompareResult> compare(DevicePtr out, DevicePtr reference, const model::TensorPlan& plan, Poison poison,
                                       Share share) override;
  model::Result<std::uint64_t> checksum(DevicePtr pointer, std::int64_t bytes) override;

  model::Result<ModuleId> load(const model::KernelBinary& binary) override;
  void unload(ModuleId module) override { modules_.erase(module); }
  model::Result<model::KernelResources> resources(ModuleId module, const std::string& kernel) override;
  model::Status check(const PreparedLaunch& launch) override;
  model::Status launch(const LaunchSequence& sequence) override;
  model::Status synchronize() override { return stuck_status(); }

  model::Result<Timed> time(std::span<const TimedCall> rotation, const TimingRequest& request) override;
  std::vector<model::Timer> timers() const override { return script_.timers; }
  model::Result<std::vector<double>> time_probe(const Probe& probe, const TimingRequest& request) override;
  model::Result<DramTraffic> traffic(const TimedCall& call) override;
  model::Result<EvictionProof> prove_eviction() override;

 private:
  /// The allocation an address lies in, if any.
  std::pair<DevicePtr, Block*> block_at(DevicePtr pointer);
  model::Status play(const LaunchSequence& sequence, bool timed);
  model::Status fail_as_scripted(const ScriptedTrial& trial);
  void write_tensors(const PreparedLaunch& launch, const Module& module, bool timed);
  model::Status stuck_status() const;

  Script script_;
  std::map<DevicePtr, Block> blocks_;
  DevicePtr next_address_ = kFirstAddress;
  std::int64_t used_ = 0;
  std::map<ModuleId, Module> modules_;
  ModuleId next_module_ = 0;
  std::string op_;
  std::string problem_;
  std::string variant_;
  std::string stuck_;  ///< why every further call fails; empty: none does
  std::size_t states_ = 0;
  std::uint64_t probes_ = 0;
};

std::string reason_or(const ScriptedTrial& trial, const char* otherwise) {
  return trial.reason.empty() ? otherwise : trial.reason;
}

model::MachineState FakeDevice::state() {
  if (script_.states.empty()) return {};
  return script_.states[std::min(states_++, script_.states.size() - 1)];
}

void FakeDevice::announce(const std::string& op, const std::string& problem, const std::string& variant) {
  op_ = op;
  problem_ = problem;
  variant_ = variant;
}

std::pair<DevicePtr, Block*> FakeDevice::block_at(DevicePtr pointer) {
  auto after = blocks_.upper_bound(pointer);
  if (after == blocks_.begin()) return {0, nullptr};
  --after;
  if (pointer - after->first >= static_cast<DevicePtr>(after->second.bytes)) return {0, nullptr};
  return {after->first, &after->second};
}

model::Result<DevicePtr> FakeDevice::allocate(std::int64_t bytes) {
  if (bytes > free_memory()) {
    return model::fail(Outcome::kRejected, fmt::format("out of memory: {} asked for, {} free", format_bytes(bytes),
                                                       format_bytes(free_memory())));
  }
  const DevicePtr address = next_address_;
  next_address_ += static_cast<DevicePtr>((bytes + 2 * kPage) / kPage * kPage);
  blocks_[address].bytes = bytes;
  used_ += bytes;
  return address;
}

void FakeDevice::release(DevicePtr pointer) {
  const auto found = blocks_.find(pointer);
  if (found == blocks_.end()) return;
  used_ -= found->second.bytes;
  blocks_.erase(found);
}

model::Status FakeDevice::initialise(DevicePtr base, const model::TensorPlan& plan, std::uint64_t seed) {
  if (Block* block = block_at(base).second) block->version = hash_64(plan.name, seed);
  return stuck_status();
}

/// The bands around a buffer are poisoned at the allocation's start (or past its middle), the buffer in between.
model::Status FakeDevice::poison(DevicePtr pointer, std::int64_t /*bytes*/, std::uint32_t /*pattern*/) {
  const auto [start, block] = block_at(pointer);
  if (block == nullptr) return stuck_status();
  if (pointer == start) block->overrun = false;
  block->written = false;
  block->faulty = false;
  return stuck_status();
}

model::Status FakeDevice::copy(DevicePtr to, DevicePtr from, std::int64_t /*bytes*/) {
  Block* target = block_at(to).second;
  const Block* source = block_at(from).second;
  if (target == nullptr || source == nullptr) return stuck_status();
  target->version = source->version;
  target->written = false;
  target->faulty = false;
  return stuck_status();
}

model::Status FakeDevice::read(void* to, DevicePtr from, std::int64_t bytes) {
  const Block* block = block_at(from).second;
  const bool poisoned = block != nullptr && (!block->written || (block->faulty && block->fault == Fault::kUnwritten));
  // Poison and guards read as the callers' patterns would; values as zeros. The pattern repeats every four bytes.
  static constexpr unsigned char kPoisonBytes[4] = {0xf5, 0x7f, 0xf5, 0x7f};
  auto* out = static_cast<unsigned char*>(to);
  for (std::int64_t i = 0; i < bytes; ++i) {
    out[i] = poisoned ? kPoisonBytes[(from + static_cast<DevicePtr>(i)) % 4] : 0;
  }
  return stuck_status();
}

model::Status FakeDevice::write(DevicePtr /*to*/, const void* /*from*/, std::int64_t /*bytes*/) {
  return stuck_status();
}

model::Result<std::int64_t> FakeDevice::first_changed(DevicePtr pointer, std::int64_t /*bytes*/,
                                                      std::uint32_t /*pattern*/) {
  const auto [start, block] = block_at(pointer);
  // A scripted overrun goes past the end: the band before the buffer stays whole.
  return block != nullptr && block->overrun && pointer != start ? 0 : -1;
}

std::int64_t reached(const model::TensorPlan& plan) {
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < plan.shape.size(); ++i) elements *= plan.strides[i] == 0 ? 1 : plan.shape[i];
  return elements;
}

model::Result<CompareResult> FakeDevice::compare(DevicePtr out, DevicePtr reference, const model::TensorPlan& plan,
                                                 Poison /*poison*/, Share /*share*/) {
  if (const model::Status stuck = stuck_status(); !stuck) return tl::unexpected(stuck.error());
  const Block* ours = block_at(out).second;
  const Block* theirs = block_at(reference).second;
  CompareResult result;
  result.elements = theirs != nullptr && theirs->written ? reached(plan) : 0;
  result.worst_margin = 0.25;
  if (ours == nullptr || !ours->written) {
    result.unwritten = result.elements;
  } else if (ours->faulty && ours->fault == Fault::kUnwritten) {
    result.unwritten = (result.elements + 1) / 2;
  } else if (ours->faulty && ours->fault == Fault::kMismatch) {
    result.mismatches = result.elements;
    result.worst_margin = 40.0;
    result.first_ref = 1.0;
  }
  if (result.unwritten + result.mismatches > 0) result.first = plan.offset;
  return result;
}

model::Result<std::uint64_t> FakeDevice::checksum(DevicePtr pointer, std::int64_t bytes) {
  if (const model::Status stuck = stuck_status(); !stuck) return tl::unexpected(stuck.error());
  const Block* block = block_at(pointer).second;
  return static_cast<std::uint64_t>(bytes) + (block == nullptr ? 0 : block->version);
}

model::Result<ModuleId> FakeDevice::load(const model::KernelBinary& /*binary*/) {
  if (const model::Status stuck = stuck_status(); !stuck) return tl::unexpected(stuck.error());
  Module module;
  module.trial = script_.play(op_, problem_, variant_);
  if (module.trial.outcome == Played::kCompileFailed) {
    return model::fail(Outcome::kCompileFailed, reason_or(module.trial, "scripted compile error"));
  }
  module.stream = NormalStream(hash_64(op_ + '\n' + problem_ + '\n' + variant_, script_.seed));
  modules_.insert_or_assign(next_module_, std::move(module));
  return next_module_++;
}

model::Result<model::KernelResources> FakeDevice::resources(ModuleId module, const std::string& kernel) {
  if (!modules_.contains(module)) return model::fail(Outcome::kLaunchFailed, "no such module for " + kernel);
  return model::KernelResources{32, 0, 0, 0, 0};
}

model::Status FakeDevice::check(const PreparedLaunch& launch) {
  const auto found = modules_.find(launch.module);
  if (found == modules_.end()) return model::fail(Outcome::kLaunchFailed, "no such module for " + launch.kernel);
  if (found->second.trial.outcome == Played::kRejected) {
    return model::fail(Outcome::kRejected, reason_or(found->second.trial, "scripted: beyond the device's limits"));
  }
  return {};
}

model::Status FakeDevice::stuck_status() const {
  if (stuck_.empty()) return {};
  return model::fail(Outcome::kCrashed, stuck_);
}

/// Ends as the script says; returns for those outcomes that are only seen later.
model::Status FakeDevice::fail_as_scripted(const ScriptedTrial& trial) {
  switch (trial.outcome) {
    case Played::kLaunchFailed:
      return model::fail(Outcome::kLaunchFailed, reason_or(trial, "scripted launch failure"));
    case Played::kSticky:
      stuck_ = reason_or(trial, "an illegal memory access was encountered");
      return stuck_status();
    case Played::kCrashed:
      fmt::print(stderr, "{}\n", reason_or(trial, "scripted crash"));
      std::signal(SIGSEGV, SIG_DFL);
      std::raise(SIGSEGV);
      return {};
    case Played::kHang:
      for (;;) pause();
    default:
      return {};
  }
}

void FakeDevice::write_tensors(const PreparedLaunch& launch, const Module& module, bool timed) {
  const ScriptedTrial& trial = module.trial;
  const bool faulty = trial.outcome == Played::kWrongResult && (timed || !trial.only_timed);
  bool first = true;
  for (std::size_t i = 0; i < launch.args.size() && i < launch.plan.args.size(); ++i) {
    if (launch.plan.args[i].kind != model::ArgPlan::Kind::kTensor || launch.args[i].size() < sizeof(DevicePtr))
      continue;
    DevicePtr address = 0;
    std::memcpy(&address, launch.args[i].data(), sizeof address);
    Block* block = block_at(address).second;
    if (block == nullptr) continue;
    block->written = true;
    block->faulty = faulty;
    block->fault = trial.fault;
    if (faulty && trial.fault == Fault::kOverrun) block->overrun = true;
    if (faulty && trial.fault == Fault::kInput && std::exchange(first, false)) ++block->version;
  }
}

model::Status FakeDevice::play(const LaunchSequence& sequence, bool timed) {
  if (const model::Status stuck = stuck_status(); !stuck) return stuck;
  for (const PreparedLaunch& launch : sequence) {
    const auto found = modules_.find(launch.module);
    if (found == modules_.end()) return model::fail(Outcome::kLaunchFailed, "no such module for " + launch.kernel);
    Module& module = found->second;
    if (timed || !module.trial.only_timed) {
      if (const model::Status ended = fail_as_scripted(module.trial); !ended) return ended;
    }
    write_tensors(launch, module, timed);
  }
  return {};
}

model::Status FakeDevice::launch(const LaunchSequence& sequence) { return play(sequence, false); }

/// One launch on each input set stands for all of them: they would be the same.
model::Result<Timed> FakeDevice::time(std::span<const TimedCall> rotation, const TimingRequest& request) {
  if (rotation.empty() || rotation.front().launches.empty())
    return model::fail(Outcome::kLaunchFailed, "nothing to time");
  Timed timed;
  for (std::size_t set = 0; set < rotation.size(); ++set) {
    if (const model::Status renewed = renew(*this, rotation[set]); !renewed) return tl::unexpected(renewed.error());
    if (const model::Status played = play(rotation[set].launches, true); !played) return tl::unexpected(played.error());
    auto wrong = check_outputs(*this, rotation, static_cast<int>(set), std::numeric_limits<std::int64_t>::max() / 2);
    if (!wrong) return tl::unexpected(wrong.error());
    if ((timed.wrong = *wrong)) return timed;
  }
  Module& module = modules_.at(rotation.front().launches.front().module);
  const ScriptedTrial& trial = module.trial;
  for (int i = 0; i < request.samples; ++i) {
    const double centre = trial.times_us[module.played++ % trial.times_us.size()] + trial.add_us;
    const double noise = trial.sd_us > 0 ? trial.sd_us * module.stream.next() : 0.0;
    timed.time_us.push_back(std::max(centre + noise, 0.001));
  }
  return timed;
}

/// As an H200's events would say it, on their lattice.
model::Result<std::vector<double>> FakeDevice::time_probe(const Probe& probe, const TimingRequest& request) {
  constexpr double kLatticeUs = 0.032;
  const bool pair = request.timer == model::Timer::kEvents || request.timer == model::Timer::kScript;
  const double overhead = pair ? 1.25 : 0.0;
  const double work = probe.kind == Probe::Kind::kNothing ? 0.0
                      : probe.kind == Probe::Kind::kEmpty ? 1.4
                      : probe.kind == Probe::Kind::kSpin  ? probe.us
                                                          : script_.fallback.times_us.front();
  NormalStream noise(hash_64("probe", script_.seed + probes_++));
  std::vector<double> times;
  for (int i = 0; i < request.samples; ++i) {
    const double us = overhead + work + script_.fallback.sd_us * noise.next();
    times.push_back(kLatticeUs * std::round(us / kLatticeUs));
  }
  return times;
}

model::Result<DramTraffic> FakeDevice::traffic(const TimedCall& call) {
  if (!script_.no_counters.empty()) {
    return model::fail(Outcome::kRejected, script_.no_counters, script_.no_counters_remedy);
  }
  if (!script_.dram) return Device::traffic(call);
  if (const model::Status played = play(call.launches, false); !played) return tl::unexpected(played.error());
  return *script_.dram;
}

model::Result<EvictionProof> FakeDevice::prove_eviction() {
  if (!script_.no_counters.empty()) {
    return model::fail(Outcome::kRejected, script_.no_counters, script_.no_counters_remedy);
  }
  if (!script_.dram) return Device::prove_eviction();
  constexpr std::int64_t kBytes = std::int64_t{32} << 20;
  return EvictionProof{kBytes, std::min(kBytes, script_.dram->read), 0, 0};
}

}  // namespace

std::unique_ptr<Device> open_fake_device(const std::string& path) {
  return std::make_unique<FakeDevice>(read_script(path));
}

}  // namespace ktune::device
