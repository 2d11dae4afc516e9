#pragma once

#include <optional>
#include <string>

#include "device/device.h"
#include "model/facts.h"

// Whether `cold` is cold on a device: proved once with its counters, and remembered for that device and driver.

namespace ktune::probe {

struct StoredProof {
  device::EvictionProof proof;
  std::string date;
};

/// A read behind the eviction must come from DRAM to this share, and the same read without it must not.
inline constexpr double kProvedShare = 0.95;
inline constexpr double kMostWarmShare = 0.5;
bool proves(const device::EvictionProof& proof);
/// "99.98 % of a 33.6 MB read came from DRAM (1.2 % without eviction)".
std::string proof_text(const device::EvictionProof& proof);

/// What an earlier proof said for this device and driver.
std::optional<StoredProof> stored_proof(const model::DeviceFacts& facts);
/// Measures in a process of its own and remembers it. kRejected where counters cannot be had.
model::Result<device::EvictionProof> prove_eviction(const std::string& device, const model::DeviceFacts& facts);

}  // namespace ktune::probe
