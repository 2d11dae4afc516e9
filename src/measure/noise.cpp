#include "measure/noise.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "base/text.h"
#include "measure/measure.h"

namespace ktune::measure {
namespace {

constexpr std::array kTable{
    NoiseRow{Noise::kWideInterval, "wide-interval", "take more samples, or stop what else runs on this machine"},
    NoiseRow{Noise::kFewSamples, "few-samples", "raise --trial-ms, with --no-reuse where it was measured before"},
    NoiseRow{Noise::kClockChanged, "clock-changed", "warm up for longer, or lock the clocks"},
    NoiseRow{Noise::kThrottled, "throttled", "let the device cool down, or lock the clocks lower"},
    NoiseRow{Noise::kInconclusive, "inconclusive", "let the device cool down, and sweep again"},
    NoiseRow{Noise::kOtherProcess, "other-process", "stop it, or measure on another device"},
    NoiseRow{Noise::kTooShort, "too-short", "use the cupti or graph timer, or a larger problem"},
    NoiseRow{Noise::kVaries, "nondeterministic", "take another variant where results must repeat"},
    NoiseRow{Noise::kState, "device-state", "no launch may depend on what one before left there"},
};

/// An interval wider than this share of the median cannot tell apart variants that differ by as much.
constexpr double kWideShare = 0.05;
/// Below 6 values no pair of order statistics covers the median with 95 %.
constexpr int kFewest = 6;
constexpr double kClockShare = 0.03;
/// NVML's clock event reasons that mean "slower than asked": power cap, hardware slowdown, software and hardware
/// thermal slowdown, power brake.
constexpr std::uint64_t kThrottleBits = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

std::optional<std::string> clock_change(const model::MachineState& before, const model::MachineState& after) {
  if (before.sm_clock_mhz <= 0 || after.sm_clock_mhz <= 0) return std::nullopt;
  if (std::abs(after.sm_clock_mhz - before.sm_clock_mhz) <= kClockShare * before.sm_clock_mhz) return std::nullopt;
  return fmt::format("the SM clock went from {:.0f} to {:.0f} MHz during the samples", before.sm_clock_mhz,
                     after.sm_clock_mhz);
}

std::optional<std::string> seen(Noise noise, const model::Samples& samples, const model::TimingSummary& summary,
                                const model::MachineState& before, const model::MachineState& after) {
  switch (noise) {
    case Noise::kWideInterval: {
      if (summary.n < kFewest || summary.time_us <= 0) return std::nullopt;
      const double share = (summary.ci_high_us - summary.ci_low_us) / summary.time_us;
      if (share <= kWideShare) return std::nullopt;
      return fmt::format("the interval of the median is {:.0f} % wide", 100.0 * share);
    }
    case Noise::kFewSamples:
      if (summary.n == 0 || summary.n >= kFewest) return std::nullopt;
      return fmt::format("{} sample{} cannot give a 95 % interval", summary.n, summary.n == 1 ? "" : "s");
    case Noise::kClockChanged:
      return clock_change(before, after);
    case Noise::kThrottled:
      if (throttle_reasons(before, after) == 0) return std::nullopt;
      return fmt::format("the device held its clock down (reasons 0x{:x})", throttle_reasons(before, after));
    case Noise::kVaries:  // Trial says it, and the next
    case Noise::kState:
    case Noise::kInconclusive:  // needs to know which samples: Series says it
      return std::nullopt;
    case Noise::kOtherProcess: {
      const int others = std::max(before.other_processes, after.other_processes);
      if (others <= 0) return std::nullopt;
      return others == 1 ? std::string("another process computes on this device")
                         : fmt::format("{} other processes compute on this device", others);
    }
    case Noise::kTooShort:
      if (summary.n == 0 || summary.time_us >= row_of(samples.timer).shortest_us) return std::nullopt;
      return fmt::format("{} is short for the {} timer", format_time_us(summary.time_us),
                         model::name_of(samples.timer));
  }
  return std::nullopt;
}

}  // namespace

std::span<const NoiseRow> noise_table() { return kTable; }

std::uint64_t throttle_reasons(const model::MachineState& before, const model::MachineState& after) {
  return (before.throttle_bits | after.throttle_bits) & kThrottleBits;
}

std::string warning_text(Noise noise, const std::string& what) {
  for (const NoiseRow& row : kTable)
    if (row.noise == noise) return fmt::format("{}: {}; {}", row.key, what, row.remedy);
  return what;
}

bool is_inconclusive(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings)
    if (warning.starts_with("inconclusive:")) return true;
  return false;
}

std::vector<std::string> noise_warnings(const model::Samples& samples, const model::MachineState& before,
                                        const model::MachineState& after) {
  const model::TimingSummary summary = summarize(samples);
  std::vector<std::string> warnings;
  for (const NoiseRow& row : kTable) {
    const std::optional<std::string> what = seen(row.noise, samples, summary, before, after);
    if (what) warnings.push_back(warning_text(row.noise, *what));
  }
  return warnings;
}

}  // namespace ktune::measure
