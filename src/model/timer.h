#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Everything ktune knows of a timer stands in one row of timers.def: options, help, messages and the rules that depend
// on a timer read it. How a GPU's timer works is a file in device/cuda, which that row binds.

namespace ktune::model {

/// In the table's order.
enum class Timer : std::uint8_t {
#define KTUNE_TIMER(enumerator, name, ...) k##enumerator,
#define KTUNE_GPU_TIMER(enumerator, name, ...) k##enumerator,
#include "model/timers.def"
};

/// What a timer needs beyond a device that offers it.
enum class TimerNeeds : std::uint8_t { kNothing, kCupti, kGraphs };

struct TimerRow {
  Timer timer;
  std::string_view name;     ///< in options, databases and fingerprints: it never changes
  std::string_view devices;  ///< the kind of device that offers it (DeviceFacts::kind); a script may offer any
  std::string_view title;    ///< in a sentence
  std::string_view summary;  ///< for --help and docs
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

inline constexpr std::array kTimers{
#define KTUNE_TIMER(enumerator, timer_name, device, ...) \
  TimerRow{.timer = Timer::k##enumerator, .name = #timer_name, .devices = device, __VA_ARGS__},
#define KTUNE_GPU_TIMER(enumerator, timer_name, ...) KTUNE_TIMER(enumerator, timer_name, "cuda", __VA_ARGS__)
#include "model/timers.def"
};

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
