#pragma once

#include <string>
#include <vector>

#include "base/notices.h"
#include "model/facts.h"
#include "spec/spec.h"
#include "sweep/sweep.h"

namespace ktune::sweep {

/// The options by which sweep, run, verify and space say which op and which problems.
struct Selection {
  std::vector<std::string> ops;
  std::vector<std::string> configs;
  std::vector<std::string> plans;
  std::vector<std::string> shapes;
  std::vector<std::string> dtypes;
  std::vector<std::string> attrs;
  std::vector<std::string> params;
};

/// Which problems of a spec stand for a use: its own, but its `sweep` ones for `bench` where it has none.
std::string use_of(const model::OpSpec& spec, const std::string& use);

/// Loads the specs and selects the problems; `use` (as use_of takes it) names the spec's problems that stand in when no
/// --shape is given.
/// Throws Error(kUsage) when no op is named.
std::vector<Work> resolve_selection(const Selection& selection, const std::string& use);

/// What a selection asks of one spec; `use` as above. Throws Error(kUsage) for an attribute that is not NAME=VALUE.
spec::ProblemRequest request_of(const Selection& selection, const std::string& use);

/// The same checks of names and files, without choosing problems: what can be told before a device is opened.
void check_selection(const Selection& selection);

/// Starts a worker for the device's facts and stops it again. "auto" is resolved first; the resolved name comes back
/// in `device`. Notices say when other processes compute on it, or that it is a MIG slice.
model::DeviceFacts device_facts(std::string& device, const Notices& notices);

/// Throws Error(kEnvironment) when `there`, what a device says of a timer, is a failure.
void require_timer(const model::TimerRequest& timer, const model::Status& there);
/// Throws Error(kEnvironment) when a timer that was asked for by name is not to be had on the device: told before
/// anything is compiled, and never replaced by another. Auto always passes.
void check_timer(const std::string& device, const model::TimerRequest& timer);

/// "cpu" for a CPU device (its problems are small), else "sweep".
std::string sweep_use(const model::DeviceFacts& facts);

/// What --cache names. Throws Error(kUsage), "did you mean".
model::CacheState cache_state_of(const std::string& name);

}  // namespace ktune::sweep
