#include "trial/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/error.h"
#include "measure/measure.h"

namespace ktune::trial {
namespace {

/// Launches before the first samples of a problem go on for this long: clocks rise and lazy set-up is done.
constexpr double kWarmUpMs = 25.0;

Json error_json(const Error& error) {
  return {{"kind", static_cast<int>(error.kind())},
          {"message", error.message()},
          {"hint", error.hint()},
          {"where", error.where()}};
}

/// A field that must be an object: the model's JSON readers take defaults for what is missing, and an array lacks all.
const Json& object_in(const Json& request, const char* field) {
  const Json& json = request.at(field);
  if (!json.is_object()) throw std::invalid_argument(fmt::format("\"{}\" is not an object", field));
  return json;
}

}  // namespace

std::string Session::handle(const std::string& line) {
  Json reply;
  try {
    const Json request = Json::parse(line);
    if (request.is_object() && request.contains("id")) reply["id"] = request.at("id");
    reply.update(answer(request));
  } catch (const Error& error) {
    reply["error"] = error_json(error);
  } catch (const std::exception& error) {
    reply["error"] = error_json(Error(ErrorKind::kEnvironment, std::string("the worker: ") + error.what()));
  }
  if (ended_) reply["bye"] = true;
  // Kernels and compilers may say what is not UTF-8.
  return reply.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json Session::answer(const Json& request) {
  model::Result<Json> result = serve(request);
  if (result) {
    Json reply = *result;
    reply["ok"] = true;
    return reply;
  }
  // The device says so when it can no longer be used: an illegal address poisons a CUDA context for good.
  if (result.error().outcome == model::Outcome::kCrashed) ended_ = true;
  return {{"ok", false}, {"failure", result.error()}};
}

model::Result<Json> Session::serve(const Json& request) {
  const std::string verb = request.at("verb").get<std::string>();
  if (verb == "facts") return Json{{"facts", device_->facts()}};
  if (verb == "timer") return check_timer(model::timer_request_of(request.at("timer").get<std::string>()));
  if (verb == "state") return Json{{"state", device_->state()}};
  if (verb == "problem") return set_problem(request);
  if (verb == "load") return load(request);
  if (verb == "verify") return verify(resident(request));
  if (verb == "measure") return measure(resident(request), measure_request_of(object_in(request, "request")));
  if (verb == "unload") {
    unload(request.at("variant").get<std::int64_t>());
    return Json::object();
  }
  throw std::invalid_argument("unknown verb '" + verb + "'");
}

void Session::drop_problem() {
  while (!residents_.empty()) unload(residents_.begin()->first);
  memory_.reset();
  if (reference_) device_->unload(*std::exchange(reference_, std::nullopt));
  warm_ = false;
}

model::Result<Json> Session::set_problem(const Json& request) {
  const auto plan = object_in(request, "plan").get<model::ProblemPlan>();
  const auto binary = object_in(request, "binary").get<model::KernelBinary>();
  drop_problem();
  device_->announce(plan.op, plan.problem, "");
  const model::Result<device::ModuleId> module = device_->load(binary);
  if (!module) return tl::unexpected(module.error());
  reference_ = *module;
  model::Result<std::unique_ptr<verify::ProblemMemory>> memory =
      verify::ProblemMemory::create(*device_, plan, *reference_);
  if (!memory) return tl::unexpected(memory.error());
  memory_ = std::move(*memory);
  return Json::object();
}

Session::Resident& Session::resident(const Json& request) {
  const auto found = residents_.find(request.at("variant").get<std::int64_t>());
  if (found == residents_.end()) throw std::invalid_argument("this variant is not loaded");
  return found->second;
}

void Session::unload(std::int64_t variant) {
  const auto found = residents_.find(variant);
  if (found == residents_.end()) return;
  const device::ModuleId module = found->second.variant.module;
  residents_.erase(found);
  device_->unload(module);
}

model::Result<Json> Session::load(const Json& request) {
  if (!memory_) throw std::invalid_argument("a variant before its problem");
  const auto id = request.at("variant").get<std::int64_t>();
  auto plan = object_in(request, "plan").get<model::VariantPlan>();
  const auto binary = object_in(request, "binary").get<model::KernelBinary>();
  unload(id);
  device_->announce(memory_->plan().op, memory_->plan().problem, plan.variant);
  const model::Result<device::ModuleId> module = device_->load(binary);
  if (!module) return tl::unexpected(module.error());
  model::Result<verify::LoadedVariant> loaded = verify::load_variant(*memory_, *module, std::move(plan));
  if (!loaded) {
    device_->unload(*module);
    return tl::unexpected(loaded.error());
  }
  residents_.emplace(id, Resident{std::move(*loaded), false});
  return Json::object();
}

model::Result<Json> Session::verify(Resident& resident) {
  const model::Result<verify::Report> report = verify::run_and_inspect(*memory_, resident.variant, 0);
  if (!report) return tl::unexpected(report.error());
  resident.verified = report->ok;
  if (report->lasting) ended_ = true;
  return Json{{"report", *report}};
}

/// Before anything is compiled or measured: whether a timer that was asked for by name is there and works.
model::Result<Json> Session::check_timer(const model::TimerRequest& timer) {
  const std::string why = timer.is_auto() ? std::string() : device_->timer_problem(*timer.named);
  if (!why.empty()) return model::fail(model::Outcome::kRejected, why);
  const model::Result<model::Timer> chosen = measure::choose_timer(timer, device_->timers());
  if (!chosen) return tl::unexpected(chosen.error());
  return Json::object();
}

/// A timer's absence, with what the device says of it.
model::Failure Session::with_reason(model::Failure failure, const model::TimerRequest& timer) {
  const std::string why = timer.is_auto() ? std::string() : device_->timer_problem(*timer.named);
  if (!why.empty()) failure.reason += " (" + why + ")";
  return failure;
}

model::Result<Json> Session::measure(Resident& resident, const measure::Request& request) {
  if (!resident.verified) throw std::invalid_argument("a variant must be verified before it is measured");
  const std::vector<model::Timer> offered = device_->timers();
  const model::Result<model::Timer> timer = measure::choose_timer(request.timer, offered);
  if (!timer) return tl::unexpected(with_reason(timer.error(), request.timer));
  const int wanted = measure::rotation_sets(device_->facts(), memory_->set_bytes(), request.cache_state, *timer);
  if (const model::Status grown = memory_->grow(wanted); !grown) return tl::unexpected(grown.error());
  const int sets = std::min(wanted, memory_->sets());
  std::vector<device::LaunchSequence> rotation;
  for (int set = 0; set < sets; ++set) {
    // Poisoned once more: what stands there afterwards was written by the launches that were timed or warmed up.
    if (const model::Status done = memory_->restore(set); !done) return tl::unexpected(done.error());
    model::Result<device::LaunchSequence> launches = verify::launches_on(*memory_, resident.variant, set);
    if (!launches) return tl::unexpected(launches.error());
    rotation.push_back(std::move(*launches));
  }
  const bool scripted = !row_of(*timer).takes_time;
  if (const model::Status done = measure::warm_up(*device_, rotation, warm_ || scripted ? 0.0 : kWarmUpMs); !done) {
    return tl::unexpected(done.error());
  }
  warm_ = true;
  const model::Result<measure::Report> report = measure::take_samples(*device_, rotation, request);
  if (!report) return tl::unexpected(report.error());
  if (const model::Status right = inspect_timed(resident, sets); !right) {
    resident.verified = false;
    return tl::unexpected(right.error());
  }
  return Json{{"report", *report}};
}

/// The outputs the timed launches left; where they update their operands in place many times over, those of one more
/// launch on fresh values.
model::Status Session::inspect_timed(const Resident& resident, int sets) {
  if (const model::Status done = device_->synchronize(); !done) return done;
  for (int set = 0; set < sets; ++set) {
    const model::Result<verify::Report> report = memory_->updates_in_place()
                                                     ? verify::run_and_inspect(*memory_, resident.variant, set)
                                                     : verify::inspect_outputs(*memory_, resident.variant, set);
    if (!report) return tl::unexpected(report.error());
    if (report->lasting) ended_ = true;
    if (!report->ok) return model::fail(model::Outcome::kWrongResult, "after timing: " + report->reason);
  }
  return {};
}

}  // namespace ktune::trial
