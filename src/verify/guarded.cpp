#include "verify/guarded.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ktune::verify {
namespace {

constexpr std::int64_t kGuardBytes = 64 * 1024;
constexpr std::int64_t kAlignment = 256;

std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

/// The band after a buffer in two parts: up to three bytes until the address is a multiple of 4, and the rest.
struct Tail {
  device::DevicePtr start = 0;
  std::int64_t ragged = 0;
  std::int64_t rest = 0;
};

unsigned char byte_of(const GuardedBuffer& buffer) { return static_cast<unsigned char>(buffer.pattern); }

Tail tail_of(const GuardedBuffer& buffer) {
  const std::int64_t ragged = std::min<std::int64_t>((4 - buffer.bytes % 4) % 4, buffer.after);
  return {buffer.base + static_cast<device::DevicePtr>(buffer.bytes), ragged, buffer.after - ragged};
}

}  // namespace

std::int64_t guard_bytes(const model::DeviceFacts& facts) { return facts.target == "cpu-sanitize" ? 0 : kGuardBytes; }

std::string guard_text(const std::string& label, const GuardHit& hit) {
  return fmt::format("wrote outside {}: byte {} {}", label, hit.distance,
                     hit.after ? "past its end" : "before its start");
}

model::Result<GuardedBuffer> allocate_guarded(device::Device& device, std::int64_t bytes, std::int64_t shift) {
  GuardedBuffer buffer;
  buffer.bytes = std::max<std::int64_t>(bytes, 1);
  const std::int64_t guard = guard_bytes(device.facts());
  if (guard > 0) {
    buffer.before = guard + round_up(shift, kAlignment);
    buffer.after = guard + round_up(buffer.bytes, kAlignment) - buffer.bytes;
  }
  const model::Result<device::DevicePtr> block = device.allocate(buffer.before + buffer.bytes + buffer.after);
  if (!block) return tl::unexpected(block.error());
  buffer.block = *block;
  buffer.base = *block + static_cast<device::DevicePtr>(buffer.before);
  if (const model::Status armed = arm_guards(device, buffer); !armed) {
    device.release(buffer.block);
    return tl::unexpected(armed.error());
  }
  return buffer;
}

model::Status arm_guards(device::Device& device, const GuardedBuffer& buffer) {
  if (buffer.before > 0) {
    if (const model::Status done = device.poison(buffer.block, buffer.before, buffer.pattern); !done) return done;
  }
  const Tail tail = tail_of(buffer);
  if (tail.ragged > 0) {
    std::array<unsigned char, 4> bytes;
    bytes.fill(byte_of(buffer));
    if (const model::Status done = device.write(tail.start, bytes.data(), tail.ragged); !done) return done;
  }
  if (tail.rest == 0) return {};
  return device.poison(tail.start + static_cast<device::DevicePtr>(tail.ragged), tail.rest, buffer.pattern);
}

model::Result<std::optional<GuardHit>> find_guard_hit(device::Device& device, const GuardedBuffer& buffer) {
  const Tail tail = tail_of(buffer);
  if (tail.ragged > 0) {
    std::array<unsigned char, 4> bytes{};
    if (const model::Status done = device.read(bytes.data(), tail.start, tail.ragged); !done) {
      return tl::unexpected(done.error());
    }
    for (std::int64_t i = 0; i < tail.ragged; ++i) {
      if (bytes[static_cast<std::size_t>(i)] != byte_of(buffer)) return GuardHit{true, i};
    }
  }
  if (tail.rest > 0) {
    const device::DevicePtr rest = tail.start + static_cast<device::DevicePtr>(tail.ragged);
    const model::Result<std::int64_t> changed = device.first_changed(rest, tail.rest, buffer.pattern);
    if (!changed) return tl::unexpected(changed.error());
    if (*changed >= 0) return GuardHit{true, tail.ragged + *changed};
  }
  if (buffer.before > 0) {
    const model::Result<std::int64_t> changed = device.first_changed(buffer.block, buffer.before, buffer.pattern);
    if (!changed) return tl::unexpected(changed.error());
    if (*changed >= 0) return GuardHit{false, buffer.before - *changed};
  }
  return std::optional<GuardHit>();
}

BufferSet::BufferSet(BufferSet&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)), entries_(std::exchange(other.entries_, {})) {}

BufferSet& BufferSet::operator=(BufferSet&& other) noexcept {
  if (this != &other) {
    clear();
    device_ = std::exchange(other.device_, nullptr);
    entries_ = std::exchange(other.entries_, {});
  }
  return *this;
}

model::Result<BufferSet> BufferSet::allocate(device::Device& device, const std::vector<model::TensorPlan>& plans,
                                             const std::string& prefix, std::int64_t shift) {
  BufferSet set;
  set.device_ = &device;
  for (const model::TensorPlan& plan : plans) {
    const model::Result<GuardedBuffer> buffer = allocate_guarded(device, plan.storage_bytes(), shift);
    if (!buffer) return tl::unexpected(buffer.error());
    set.entries_.push_back({plan, *buffer, prefix + plan.name});
  }
  return set;
}

const BufferSet::Entry* BufferSet::find(const std::string& tensor) const {
  for (const Entry& entry : entries_) {
    if (entry.plan.name == tensor) return &entry;
  }
  return nullptr;
}

model::Status BufferSet::arm(std::uint32_t pattern) {
  for (Entry& entry : entries_) {
    entry.buffer.pattern = pattern;
    if (const model::Status done = arm_guards(*device_, entry.buffer); !done) return done;
  }
  return {};
}

void BufferSet::clear() {
  for (const Entry& entry : entries_) device_->release(entry.buffer.block);
  entries_.clear();
}

void add_addresses(const BufferSet& set, Addresses& addresses) {
  for (const BufferSet::Entry& entry : set.entries()) {
    addresses[entry.plan.name] =
        entry.buffer.base + static_cast<device::DevicePtr>(entry.plan.offset * model::size_of(entry.plan.dtype));
  }
}

model::Result<device::LaunchSequence> prepare_launches(const std::vector<model::LaunchPlan>& launches,
                                                       device::ModuleId module, const Addresses& addresses) {
  device::LaunchSequence sequence;
  for (const model::LaunchPlan& plan : launches) {
    device::PreparedLaunch launch{module, plan.kernel, {}, plan};
    for (const model::ArgPlan& arg : plan.args) {
      device::DevicePtr address = 0;
      if (arg.kind == model::ArgPlan::Kind::kTensor) {
        const auto found = addresses.find(arg.tensor);
        if (found == addresses.end()) {
          return model::fail(
              model::Outcome::kLaunchFailed,
              fmt::format("kernel {} asks for tensor '{}', which this launch does not have", plan.kernel, arg.tensor));
        }
        address = found->second;
      }
      launch.args.push_back(device::argument_bytes(arg, address));
    }
    sequence.push_back(std::move(launch));
  }
  return sequence;
}

}  // namespace ktune::verify
