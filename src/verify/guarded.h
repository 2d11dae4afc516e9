#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "model/outcome.h"
#include "model/plan.h"

// Buffers between guard bands. A variant that writes past its output is wrong even when every element that is looked at
// is right, so each buffer lies between two bands of a known pattern that are compared after every run. Where a
// sanitizer watches the memory it knows each allocation's exact end: there the bands would only hide the overrun.

namespace ktune::verify {

/// What memory that nothing has written holds. Every run of a variant is made twice, over both of these, so that what
/// reads it, or leaves it, differs from the reference in one of them at least.
struct Patterns {
  std::uint32_t outputs = 0;
  std::uint32_t scratch = 0;  ///< not the outputs': arithmetic hands a NaN's payload on
  std::uint32_t guards = 0;   ///< all four bytes alike, so that a band may start at any address
};
/// The first: NaN for every floating type, whichever half a 16-bit element falls on; no sum survives it, but a maximum
/// does. The second: large numbers (1e16 to 6e16 in f32 and bf16, 150 to 235 in f16).
inline constexpr Patterns kPatterns[2] = {{0x7ff57ff5u, 0x7ff37ff3u, 0xffffffffu},
                                          {0x5a5a5a5au, 0x5b5b5b5bu, 0x5b5b5b5bu}};

/// Bytes of each guard band on a device.
std::int64_t guard_bytes(const model::DeviceFacts& facts);

/// `bytes` of memory at `base`, 256-byte aligned, inside a larger allocation.
struct GuardedBuffer {
  device::DevicePtr block = 0;
  device::DevicePtr base = 0;
  std::int64_t bytes = 0;
  std::int64_t before = 0;                      ///< bytes of the band that ends at base
  std::int64_t after = 0;                       ///< bytes of the band that starts at base + bytes
  std::uint32_t pattern = kPatterns[0].guards;  ///< what the bands hold
};

/// Where a guard band was first written.
struct GuardHit {
  bool after = false;
  std::int64_t distance = 0;  ///< bytes past the end (0: the first), or before the start (1: the last one before it)
};

/// "wrote outside y: byte 0 past its end".
std::string guard_text(const std::string& label, const GuardHit& hit);

/// Allocates and arms the bands. `shift`, a multiple of 256, moves the base, so that buffers of the same size in
/// several sets do not all start at the same place of the memory's interleaving.
model::Result<GuardedBuffer> allocate_guarded(device::Device& device, std::int64_t bytes, std::int64_t shift = 0);
/// Writes the pattern into both bands.
model::Status arm_guards(device::Device& device, const GuardedBuffer& buffer);
/// The first byte of a band that no longer holds the pattern; nothing when both are whole.
model::Result<std::optional<GuardHit>> find_guard_hit(device::Device& device, const GuardedBuffer& buffer);

/// Tensors in guarded buffers, released together.
class BufferSet {
 public:
  struct Entry {
    model::TensorPlan plan;
    GuardedBuffer buffer;
    std::string label;  ///< how a message calls it: "y", "scratch partial"
  };

  BufferSet() = default;
  ~BufferSet() { clear(); }
  BufferSet(BufferSet&& other) noexcept;
  BufferSet& operator=(BufferSet&& other) noexcept;
  BufferSet(const BufferSet&) = delete;
  BufferSet& operator=(const BufferSet&) = delete;

  /// Allocates a buffer for each plan, each label made of `prefix` and the tensor's name. All or nothing.
  static model::Result<BufferSet> allocate(device::Device& device, const std::vector<model::TensorPlan>& plans,
                                           const std::string& prefix, std::int64_t shift = 0);

  const std::vector<Entry>& entries() const { return entries_; }
  /// Nothing when there is no such tensor.
  const Entry* find(const std::string& tensor) const;
  /// Writes a pattern into the bands of every buffer.
  model::Status arm(std::uint32_t pattern);
  void clear();

 private:
  device::Device* device_ = nullptr;
  std::vector<Entry> entries_;
};

/// Addresses as kernels get them (the tensor's offset included), by tensor name.
using Addresses = std::map<std::string, device::DevicePtr>;
/// Adds the set's tensors; a name already there is overwritten.
void add_addresses(const BufferSet& set, Addresses& addresses);

/// Launches with every argument's bytes in place. kLaunchFailed when one names a tensor that has no address.
model::Result<device::LaunchSequence> prepare_launches(const std::vector<model::LaunchPlan>& launches,
                                                       device::ModuleId module, const Addresses& addresses);

}  // namespace ktune::verify
