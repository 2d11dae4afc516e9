#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/facts.h"
#include "model/timing.h"

namespace ktune::measure {

/// What may have disturbed a measurement.
enum class Noise {
  kWideInterval,
  kFewSamples,
  kClockChanged,
  kThrottled,
  kInconclusive,
  kOtherProcess,
  kTooShort,
  kVaries,
  kState,
};

/// One row a kind: what a warning says and what to do about it.
struct NoiseRow {
  Noise noise;
  std::string_view key;  ///< "wide-interval": how tests and JSON readers tell them apart
  std::string_view remedy;
};

std::span<const NoiseRow> noise_table();

/// Why the device held its clock down in either state, as NVML's bits; 0: it did not.
std::uint64_t throttle_reasons(const model::MachineState& before, const model::MachineState& after);
/// "KEY: what was seen; what to do" of a row.
std::string warning_text(Noise noise, const std::string& what);
/// The trial's samples are mostly of a throttled device: it decides nothing.
bool is_inconclusive(const std::vector<std::string>& warnings);

/// Warnings of one measurement, each "KEY: what was seen; what to do", in the table's order.
std::vector<std::string> noise_warnings(const model::Samples& samples, const model::MachineState& before,
                                        const model::MachineState& after);

}  // namespace ktune::measure
