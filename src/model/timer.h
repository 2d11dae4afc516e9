#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Everything ktune knows of a timer stands in one row here: options, help, messages and the rules that depend on a
// timer read it. How a GPU's timer works is a file in device/cuda, bound by a row in timing.cpp there.

namespace ktune::model {

/// In the table's order.
enum class Timer : std::uint8_t { kEvents, kCupti, kGraph, kHost, kScript };

/// What a timer needs beyond a device that offers it.
enum class TimerNeeds : std::uint8_t { kNothing, kCupti, kGraphs };

struct TimerRow {
  Timer timer;
  std::string_view name;     ///< in options, databases and fingerprints: it never changes
  std::string_view title;    ///< in a sentence
  std::string_view summary;  ///< for --help and docs
  std::string_view devices;  ///< the kind of device that offers it (DeviceFacts::kind); a script may offer any
  TimerNeeds needs;
  std::string_view cache;  ///< what cold, dirty and warm are states of
  /// Whether it puts the cache into the asked state before every sample. If not, a sample finds what the samples before
  /// it left.
  bool evicts;
  /// Below this its own cost and lattice are a large part of a time.
  double shortest_us;
  /// `auto` takes it for variants that take less than this by the first timer of the device's kind; 0: never. The first
  /// one serves all others.
  double auto_below_us;
  bool takes_time;  ///< false: its samples are made up and take no time
};

// shortest_us: an event pair around an empty kernel reads 2.7 us on an H200, on a lattice of 0.03 us. auto_below_us:
// from there down an event pair's own cost and lattice would be a large part.
inline constexpr std::array<TimerRow, 5> kTimers{{
    {.timer = Timer::kEvents,
     .name = "events",
     .title = "CUDA's events",
     .summary = "a pair of CUDA events around each sample",
     .devices = "cuda",
     .needs = TimerNeeds::kNothing,
     .cache = "L2",
     .evicts = true,
     .shortest_us = 5.0,
     .auto_below_us = 0.0,
     .takes_time = true},
    {.timer = Timer::kCupti,
     .name = "cupti",
     .title = "CUPTI",
     .summary = "CUPTI's records of each kernel's start and end",
     .devices = "cuda",
     .needs = TimerNeeds::kCupti,
     .cache = "L2",
     .evicts = true,
     .shortest_us = 1.0,
     .auto_below_us = 20.0,
     .takes_time = true},
    {.timer = Timer::kGraph,
     .name = "graph",
     .title = "CUDA's graphs",
     .summary = "many calls in one CUDA graph, nothing evicted between them",
     .devices = "cuda",
     .needs = TimerNeeds::kGraphs,
     .cache = "L2",
     .evicts = false,
     .shortest_us = 0.0,
     .auto_below_us = 0.0,
     .takes_time = true},
    {.timer = Timer::kHost,
     .name = "host",
     .title = "the host's clock",
     .summary = "the host's clock, on the CPU device",
     .devices = "cpu",
     .needs = TimerNeeds::kNothing,
     .cache = "cache",
     .evicts = true,
     .shortest_us = 2.0,
     .auto_below_us = 0.0,
     .takes_time = true},
    {.timer = Timer::kScript,
     .name = "script",
     .title = "the script",
     .summary = "the times that a script gives",
     .devices = "fake",
     .needs = TimerNeeds::kNothing,
     .cache = "L2",
     .evicts = true,
     .shortest_us = 0.0,
     .auto_below_us = 0.0,
     .takes_time = false},
}};

constexpr const TimerRow& row_of(Timer timer) { return kTimers[static_cast<std::size_t>(timer)]; }
constexpr std::string_view name_of(Timer timer) { return row_of(timer).name; }
std::optional<Timer> parse_timer(std::string_view name);
inline std::optional<Timer> parse_as(Timer, std::string_view name) { return parse_timer(name); }

/// The timers of a kind of device, in the table's order.
std::vector<Timer> timers_of(std::string_view device_kind);
/// The timers that `auto` chooses from on a kind of device; the first one is the timer it decides by.
std::vector<Timer> auto_timers(std::string_view device_kind);
/// Whether `auto` has a choice to make there. Elsewhere it is the first timer that the device offers.
bool auto_decides(std::string_view device_kind);

/// What a user asks for: a timer by name, or `auto`.
struct TimerRequest {
  std::optional<Timer> named;  ///< nothing: auto

  TimerRequest() = default;
  TimerRequest(Timer timer) : named(timer) {}  // NOLINT(google-explicit-constructor): a timer is a request for it

  bool is_auto() const { return !named; }
  friend bool operator==(const TimerRequest&, const TimerRequest&) = default;
};
std::string_view name_of(const TimerRequest& request);  ///< "auto", or the timer's name
/// Throws Error(kUsage), "did you mean", for what is neither "auto" nor a timer's name.
TimerRequest timer_request_of(const std::string& name);
/// Every name that timer_request_of takes, "auto" first.
std::vector<std::string> timer_request_names();

}  // namespace ktune::model
