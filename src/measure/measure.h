#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "model/facts.h"
#include "model/outcome.h"
#include "model/timing.h"

// How a verified variant is timed: warm up by time, not by count; estimate; take as many samples as the budget holds;
// summarise without assuming a distribution. What may have disturbed the samples is said, never corrected.

namespace ktune::measure {

/// Part of every trial's fingerprint: raise it when a change here makes old samples incomparable.
inline constexpr int kMeasurementProtocol = 3;

/// Share of the samples that every mean leaves out at each end.
inline constexpr double kTrimmed = 0.2;
/// Of every interval.
inline constexpr double kLevel = 0.95;

struct Request {
  int samples = 0;  ///< exactly so many when > 0; else as many as fit budget_ms, within [min, max]
  double budget_ms = 20.0;
  int min_samples = 20;
  int max_samples = 1000;
  model::CacheState cache_state = model::CacheState::kCold;
  model::TimerRequest timer;

  static constexpr bool kStrict = true;
  static void fields(auto& self, auto&& field) {
    field("samples", self.samples);
    field("budget_ms", self.budget_ms);
    field("min_samples", self.min_samples);
    field("max_samples", self.max_samples);
    field("cache_state", self.cache_state);
    field("timer", self.timer);
  }
};

struct Measurement {
  model::Samples samples;
  model::MachineState before;
  model::MachineState after;
  std::vector<std::string> warnings;
  double cost_us = 0.0;                      ///< wall time of one of these samples, its eviction included
  std::optional<device::WrongLaunch> wrong;  ///< these samples are no measurement: one was of a launch that was wrong

  static constexpr bool kStrict = true;
  static void fields(auto& self, auto&& field) {
    field("time_us", self.samples.time_us);
    field("timer", self.samples.timer);
    field("cache_state", self.samples.cache_state);
    field("before", self.before);
    field("after", self.after);
    field("warnings", self.warnings);
    field("cost_us", self.cost_us);
  }
};

/// The timer a request stands for: auto is the first one offered. A timer that is not offered is a failure
/// (kRejected) that lists what is: never another timer's figures under its name.
model::Result<model::Timer> choose_timer(const model::TimerRequest& asked, std::span<const model::Timer> offered);

/// Samples to take when one costs `cost_us` of wall time, its eviction included.
int sample_count(const Request& request, double cost_us);

/// How many input sets to rotate through. Two at least, so that what was remembered from the launch before is wrong; a
/// cold or dirty sample evicts L2 by itself and needs no more. Warm samples: at least three sets and four times L2, so
/// that no sample finds its data in L2 only because the one before read the same buffers. A graph launches on each of
/// its sets once: 24 at least, so that it is long. 64 sets, and beyond two no more than 1 GiB; the host's memory, where
/// the device is the CPU, counts no L2.
int rotation_sets(const model::DeviceFacts& facts, std::int64_t set_bytes, model::CacheState cache_state,
                  model::Timer timer);

/// Median, 20 % trimmed mean, quantiles and the 95 % interval of the median; all zero for no samples.
model::TimingSummary summarize(const model::Samples& samples);

/// Launches each of the rotation once, with fresh operands, then on until `duration_ms` have passed (0: only once).
model::Status warm_up(device::Device& device, std::span<const device::TimedCall> rotation, double duration_ms);

/// Estimates, then takes the samples. The rotation must be verified and warm. Ends with the first launch that is found
/// wrong (Measurement::wrong).
model::Result<Measurement> take_samples(device::Device& device, std::span<const device::TimedCall> rotation,
                                        const Request& request);

}  // namespace ktune::measure
