#include "cli/timer_option.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/text.h"

namespace ktune::cli {
namespace {

/// "events (a pair of CUDA events around each sample), …": the timers of real devices.
std::string timer_list() {
  std::vector<std::string> rows;
  for (const model::TimerRow& row : model::kTimers)
    if (row.takes_time) rows.push_back(fmt::format("{} ({})", row.name, row.summary));
  return join(rows, ", ");
}

}  // namespace

void add_timer_option(CLI::App& app, model::TimerRequest& timer, const std::string& automatic) {
  app.add_option_function<std::string>(
         "--timer", [&timer](const std::string& name) { timer = model::timer_request_of(name); },
         fmt::format("auto{}, or a timer by name: {}", automatic.empty() ? "" : " (" + automatic + ")", timer_list()))
      ->default_str(std::string(name_of(timer)));
}

void add_timers_option(CLI::App& app, std::vector<model::TimerRequest>& timers, const std::string& note) {
  const auto set = [&timers](const std::vector<std::string>& names) {
    timers.clear();
    for (const std::string& name : names) timers.push_back(model::timer_request_of(name));
  };
  app.add_option_function<std::vector<std::string>>("--timer", set, fmt::format("Timers: {} ({})", timer_list(), note));
}

std::string automatic_timer_text() {
  const std::vector<model::Timer> timers = model::auto_timers("cuda");
  std::string text = "of a problem whose default takes less than";
  for (const model::Timer timer : timers)
    if (row_of(timer).auto_below_us > 0.0)
      text += fmt::format(" {:.0f} us by {}: {}, where it works;", row_of(timer).auto_below_us, name_of(timers.front()),
                          name_of(timer));
  return text + fmt::format(" else {}", name_of(timers.front()));
}

}  // namespace ktune::cli
