#pragma once

#include <memory>
#include <string>

#include "model/facts.h"

// NVIDIA's management library: clocks, power, heat and neighbours. Prototypes are our own, since nvml.h is often
// missing; without the library every figure is unknown and nothing fails.

namespace ktune::device::cuda {

class Nvml {
 public:
  /// The GPU, or the slice of one, of this UUID (without "GPU-" or "MIG-"). Never throws: what the library does not
  /// say stays unknown.
  explicit Nvml(const std::string& uuid);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Driver version, power limit, ECC, MIG and the UUID.
  void fill(model::DeviceFacts& facts) const;
  model::MachineState state() const;
  /// Why NVML says nothing; empty when it works.
  const std::string& problem() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ktune::device::cuda
