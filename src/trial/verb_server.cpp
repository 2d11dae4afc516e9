#include "trial/verb_server.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "base/error.h"

namespace ktune::trial {
namespace {

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

std::string VerbServer::handle(const std::string& line) {
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

Json VerbServer::answer(const Json& request) {
  model::Result<Json> result = serve(request);
  // The device says so when it can no longer be used: an illegal address poisons a CUDA context for good.
  if (!result && result.error().outcome == model::Outcome::kCrashed) ended_ = true;
  if (problem_ && problem_->is_damaged()) ended_ = true;
  if (!result) return {{"ok", false}, {"failure", result.error()}};
  Json reply = *result;
  reply["ok"] = true;
  return reply;
}

model::Result<Json> VerbServer::serve(const Json& request) {
  const auto done = [](const model::Status& status) {
    return status ? model::Result<Json>(Json::object()) : tl::unexpected(status.error());
  };
  const auto reported = [](const auto& report) {
    return report ? model::Result<Json>(Json{{"report", *report}}) : tl::unexpected(report.error());
  };
  const std::string verb = request.at("verb").get<std::string>();
  if (verb == "facts") return Json{{"facts", device_->facts()}};
  if (verb == "timer")
    return done(check_timer(*device_, model::timer_request_of(request.at("timer").get<std::string>())));
  if (verb == "state") return Json{{"state", device_->state()}};
  if (verb == "problem") return set_problem(request);
  if (verb == "load") return load(request);
  if (verb == "verify") return reported(resident(request).verify());
  if (verb == "measure") {
    Trial& trial = resident(request);
    const measure::Request asked = measure_request_of(object_in(request, "request"));
    if (!trial.is_verified()) throw std::invalid_argument("a variant must be verified before it is measured");
    return reported(trial.measure(asked));
  }
  if (verb == "unload") {
    residents_.erase(request.at("variant").get<std::int64_t>());
    return Json::object();
  }
  throw std::invalid_argument("unknown verb '" + verb + "'");
}

void VerbServer::drop_problem() {
  residents_.clear();
  problem_.reset();
}

model::Result<Json> VerbServer::set_problem(const Json& request) {
  auto plan = object_in(request, "plan").get<model::ProblemPlan>();
  const auto binary = object_in(request, "binary").get<model::KernelBinary>();
  drop_problem();
  model::Result<std::unique_ptr<TrialProblem>> problem = TrialProblem::set_up(*device_, std::move(plan), binary);
  if (!problem) return tl::unexpected(problem.error());
  problem_ = std::move(*problem);
  return Json::object();
}

Trial& VerbServer::resident(const Json& request) {
  const auto found = residents_.find(request.at("variant").get<std::int64_t>());
  if (found == residents_.end()) throw std::invalid_argument("this variant is not loaded");
  return *found->second;
}

model::Result<Json> VerbServer::load(const Json& request) {
  if (!problem_) throw std::invalid_argument("a variant before its problem");
  const auto id = request.at("variant").get<std::int64_t>();
  auto plan = object_in(request, "plan").get<model::VariantPlan>();
  const auto binary = object_in(request, "binary").get<model::KernelBinary>();
  residents_.erase(id);
  model::Result<std::unique_ptr<Trial>> trial = Trial::load(*problem_, std::move(plan), binary);
  if (!trial) return tl::unexpected(trial.error());
  residents_.emplace(id, std::move(*trial));
  return Json::object();
}

}  // namespace ktune::trial
