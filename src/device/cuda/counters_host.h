#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "model/outcome.h"

// The part of CUPTI's range profiler that needs no GPU: names of metrics into a configuration, counters into values.

namespace ktune::device::cuda {

/// Names of the same two figures, bytes read from and written to DRAM, on one family of chips or another.
using DramMetrics = std::array<const char*, 2>;
/// In the order they are tried; an unknown name is CUPTI's error 1 or 17.
std::span<const DramMetrics> dram_metrics();

/// What a failed CUPTI call means for hardware counters: kRejected, the cause as reason, what to do as detail.
model::Failure counters_failure(int result, const std::string& call);

/// One chip's metrics.
class CounterHost {
 public:
  /// `chip` as CUPTI calls it ("GH100"); `availability` as the GPU says, empty where there is none. Takes the first of
  /// dram_metrics() that the chip knows.
  static model::Result<CounterHost> open(const std::string& chip, std::span<const std::uint8_t> availability);
  CounterHost(CounterHost&&) noexcept;
  CounterHost& operator=(CounterHost&&) noexcept;
  ~CounterHost();

  const DramMetrics& metrics() const;
  std::span<const std::uint8_t> config() const;
  /// How many times the work must run for all metrics. More than one is of no use: the work is not repeatable.
  std::size_t passes() const;
  /// Values of the first range of a decoded counter data image.
  model::Result<DramTraffic> evaluate(std::span<const std::uint8_t> image) const;

 private:
  struct Impl;
  explicit CounterHost(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ktune::device::cuda
