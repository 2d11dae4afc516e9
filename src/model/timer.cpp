#include "model/timer.h"

#include "base/error.h"
#include "base/text.h"

namespace ktune::model {
namespace {

constexpr std::string_view kAuto = "auto";

}  // namespace

std::optional<Timer> parse_timer(std::string_view name) {
  for (const TimerRow& row : kTimers)
    if (row.name == name) return row.timer;
  return std::nullopt;
}

std::vector<Timer> timers_of(std::string_view device_kind) {
  std::vector<Timer> timers;
  for (const TimerRow& row : kTimers)
    if (row.devices == device_kind) timers.push_back(row.timer);
  return timers;
}

std::vector<Timer> auto_timers(std::string_view device_kind) {
  std::vector<Timer> timers;
  for (const Timer timer : timers_of(device_kind))
    if (timers.empty() || row_of(timer).auto_below_us > 0.0) timers.push_back(timer);
  return timers;
}

bool auto_decides(std::string_view device_kind) { return auto_timers(device_kind).size() > 1; }

std::string_view name_of(const TimerRequest& request) { return request.named ? name_of(*request.named) : kAuto; }

TimerRequest timer_request_of(const std::string& name) {
  if (name == kAuto) return {};
  if (const std::optional<Timer> timer = parse_timer(name)) return *timer;
  const std::vector<std::string> names = timer_request_names();
  throw Error(ErrorKind::kUsage, "unknown timer '" + name + "'" + did_you_mean(name, names),
              "one of " + join(names, ", "));
}

std::vector<std::string> timer_request_names() {
  std::vector<std::string> names{std::string(kAuto)};
  for (const TimerRow& row : kTimers) names.emplace_back(row.name);
  return names;
}

}  // namespace ktune::model
