#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "model/outcome.h"

// `ktune doctor --selftest`: what this machine's clocks can resolve, measured with kernels whose time is known.

namespace ktune::probe {

struct SelfTestRow {
  enum class Grade { kGood, kNote, kBad };
  std::string what;
  std::string value;
  Grade grade = Grade::kGood;
  std::string remark;
};

/// The smallest difference between two distinct times: the lattice a timer's values sit on. Nothing when all are equal.
std::optional<double> lattice_us(std::span<const double> times_us);

/// The smallest shift, in percent, that `pairs` interleaved pairs find nine times in ten at p ≤ 0.02, when ln(b/a) of
/// two runs of the same kernel scatters like `log_ratios`.
double detectable_pct(std::span<const double> log_ratios, int pairs);

/// Measures; `prove` is the eviction's proof, from a process of its own.
std::vector<SelfTestRow> self_test(device::Device& device,
                                   const std::function<model::Result<device::EvictionProof>()>& prove);

struct SelfTest {
  std::string device;  ///< what it calls itself
  std::vector<SelfTestRow> rows;
};

/// Opens the device and measures. Throws Error(kEnvironment) where it cannot be opened, or times nothing.
SelfTest run_selftest(const std::string& device);

}  // namespace ktune::probe
