#include "trial/protocol.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ktune::trial {
namespace {

constexpr int kMostSamples = 1'000'000;

model::CacheState cache_state_of(const Json& json) {
  const std::string name = json.at("cache_state").get<std::string>();
  const std::optional<model::CacheState> state = model::parse_cache_state(name);
  if (!state) throw std::invalid_argument("unknown cache state '" + name + "'");
  return *state;
}

}  // namespace

Json json_of(const verify::Report& report) {
  return {{"ok", report.ok}, {"margin", report.margin}, {"reason", report.reason}, {"lasting", report.lasting}};
}

verify::Report verify_report_of(const Json& json) {
  verify::Report report;
  report.ok = json.at("ok").get<bool>();
  report.margin = json.at("margin").get<double>();
  report.reason = json.at("reason").get<std::string>();
  report.lasting = json.value("lasting", false);
  return report;
}

Json json_of(const measure::Request& request) {
  return {{"samples", request.samples},
          {"budget_ms", request.budget_ms},
          {"min_samples", request.min_samples},
          {"max_samples", request.max_samples},
          {"cache_state", model::name_of(request.cache_state)},
          {"timer", request.timer}};
}

measure::Request measure_request_of(const Json& json) {
  measure::Request request;
  request.samples = json.at("samples").get<int>();
  request.budget_ms = json.at("budget_ms").get<double>();
  request.min_samples = json.at("min_samples").get<int>();
  request.max_samples = json.at("max_samples").get<int>();
  if (std::max({request.samples, request.min_samples, request.max_samples}) > kMostSamples) {
    throw std::invalid_argument("too many samples");
  }
  request.cache_state = cache_state_of(json);
  request.timer = json.at("timer").get<std::string>();
  return request;
}

Json json_of(const measure::Report& report) {
  return {{"time_us", report.samples.time_us},
          {"timer", model::name_of(report.samples.timer)},
          {"cache_state", model::name_of(report.samples.cache_state)},
          {"before", report.before},
          {"after", report.after},
          {"warnings", report.warnings},
          {"cost_us", report.cost_us}};
}

measure::Report measure_report_of(const Json& json) {
  measure::Report report;
  report.samples.time_us = json.at("time_us").get<std::vector<double>>();
  const std::optional<model::Timer> timer = model::parse_timer(json.at("timer").get<std::string>());
  if (!timer) throw std::invalid_argument("unknown timer");
  report.samples.timer = *timer;
  report.samples.cache_state = cache_state_of(json);
  report.before = json.at("before").get<model::MachineState>();
  report.after = json.at("after").get<model::MachineState>();
  report.warnings = json.at("warnings").get<std::vector<std::string>>();
  report.cost_us = json.at("cost_us").get<double>();
  return report;
}

}  // namespace ktune::trial
