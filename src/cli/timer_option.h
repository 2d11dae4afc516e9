#pragma once

#include <string>
#include <vector>

#include "model/timer.h"

namespace CLI {
class App;
}

namespace ktune::cli {

/// Binds --timer (default auto); `automatic` says in brackets what auto means to this command, "" says nothing.
/// Parsing throws Error(kUsage) for an unknown name.
void add_timer_option(CLI::App& app, model::TimerRequest& timer, const std::string& automatic = "");

/// The same for a list of timers, where the option may be repeated.
void add_timers_option(CLI::App& app, std::vector<model::TimerRequest>& timers, const std::string& note);
/// What `auto` means to a sweep: "of a problem whose default takes less than 20 us by events: cupti, …".
std::string automatic_timer_text();

}  // namespace ktune::cli
