#include "probe/counters.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "base/error.h"
#include "base/own_binary.h"
#include "base/process.h"
#include "base/text.h"
#include "compile/builtin_code.h"
#include "model/json.h"
#include "trial/device_trial.h"

// One JSON object each way. Request: {"device", "plan", "reference", "variants": [{"plan", "binary"}]}, or {"device",
// "proof": true}. Answer: {"traffic": [{"read", "written"} or {"failure"}]}, {"proof": {…}}, or {"failure"} for what
// concerns all of it.

namespace ktune::probe {
namespace {

using model::Json;
using model::Outcome;

constexpr double kLookS = 0.2;
constexpr double kEndS = 5.0;

std::string why_not(const model::Failure& failure) {
  return failure.detail.empty() ? failure.reason : failure.reason + "; " + failure.detail;
}

/// The worker's answer, or what became of it.
model::Result<Json> ask(const Json& request, double deadline_s) {
  ChildProcess child({own_binary(), "counters-worker"});
  if (!child.write_line(request.dump(-1, ' ', false, Json::error_handler_t::replace))) {
    return model::fail(Outcome::kCrashed, "the counters' process reads nothing", child.stderr_tail());
  }
  const double end = now_s() + deadline_s;
  while (true) {
    if (const auto line = child.read_line(kLookS)) {
      Json answer = Json::parse(*line, nullptr, false);
      if (!answer.is_object()) return model::fail(Outcome::kCrashed, "the counters' process gave no sensible answer");
      if (answer.contains("failure")) return tl::unexpected(answer.at("failure").get<model::Failure>());
      return answer;
    }
    if (child.at_end()) {
      const auto status = child.wait(kEndS);
      return model::fail(Outcome::kCrashed, "the counters' process ended: " + status.value_or(ExitStatus{}).text(),
                         child.stderr_tail());
    }
    if (interrupted()) throw Error(ErrorKind::kInterrupted, "interrupted");
    if (now_s() > end) {
      return model::fail(Outcome::kTimedOut, fmt::format("the counters gave no answer within {:.0f} s", deadline_s));
    }
  }
}

Json failure_json(const model::Failure& failure) { return Json{{"failure", failure}}; }

/// One variant, verified first: wrong results move wrong bytes. `counting`: it got as far as the counters.
model::Result<device::DramTraffic> count_one(trial::TrialProblem& problem, const CountRequest::Item& item,
                                             bool& counting) {
  const auto trial = trial::Trial::load(problem, item.plan, item.binary);
  if (!trial) return tl::unexpected(trial.error());
  const auto report = (*trial)->verify();
  if (!report) return tl::unexpected(report.error());
  if (!report->ok) return model::fail(Outcome::kWrongResult, report->reason);
  counting = true;
  return (*trial)->count_traffic();
}

Json serve_counts(device::Device& device, const CountRequest& request) {
  const auto problem = trial::TrialProblem::set_up(device, request.plan, request.reference);
  if (!problem) return failure_json(problem.error());
  Json traffic = Json::array();
  for (const CountRequest::Item& item : request.variants) {
    bool counting = false;
    const auto counted = count_one(**problem, item, counting);
    if (counted) {
      traffic.push_back(*counted);
      continue;
    }
    traffic.push_back(failure_json(counted.error()));
    traffic.back()["forbidden"] = counting && counted.error().outcome == Outcome::kRejected;
    if (counted.error().outcome == Outcome::kCrashed) break;  // the device is no longer fit for use
    if ((*problem)->is_damaged()) break;                      // nor are its buffers
  }
  return {{"traffic", traffic}};
}

Json serve_proof(device::Device& device) {
  const auto proof = device.prove_eviction();
  if (!proof) return failure_json(proof.error());
  return {{"proof", *proof}};
}

Json serve(const Json& request) {
  try {
    const auto device = compile::open_device(request.at("device").get<std::string>());
    return request.value("proof", false) ? serve_proof(*device) : serve_counts(*device, request.get<CountRequest>());
  } catch (const Error& error) {
    return failure_json({Outcome::kCrashed, error.message(), error.hint()});
  } catch (const std::exception& error) {
    return failure_json({Outcome::kCrashed, error.what(), {}});
  }
}

model::TrafficRecord record_of(const Json& json, bool& forbidden) {
  model::TrafficRecord record;
  if (json.contains("failure")) {
    const auto failure = json.at("failure").get<model::Failure>();
    forbidden = forbidden || json.value("forbidden", false);
    record.why_not = why_not(failure);
    return record;
  }
  const auto counted = json.get<device::DramTraffic>();
  record.dram_read = counted.read;
  record.dram_written = counted.written;
  return record;
}

}  // namespace

CountAnswer count_traffic(const CountRequest& request, double deadline_s) {
  const auto answer = ask(request, deadline_s);
  CountAnswer result;
  if (answer) {
    for (const Json& json : answer->at("traffic")) result.traffic.push_back(record_of(json, result.forbidden));
  }
  model::TrafficRecord missing;
  missing.why_not = answer ? "the counters' process gave it up" : why_not(answer.error());
  result.traffic.resize(request.variants.size(), missing);
  return result;
}

model::Result<device::EvictionProof> count_eviction(const std::string& device, double deadline_s) {
  const auto answer = ask({{"device", device}, {"proof", true}}, deadline_s);
  if (!answer) return tl::unexpected(answer.error());
  return answer->at("proof").get<device::EvictionProof>();
}

std::string traffic_text(const model::TrafficRecord& traffic, const model::Cost& cost) {
  if (traffic.dram_read < 0) return "not counted: " + traffic.why_not;
  const auto mb = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  return fmt::format("reads {:.2f} MB (model {:.2f}), writes {:.2f} MB (model {:.2f}), {:.3f} of the model",
                     mb(traffic.dram_read), mb(cost.bytes_read), mb(traffic.dram_written), mb(cost.bytes_written),
                     mb(traffic.dram_read + traffic.dram_written) / std::max(mb(cost.bytes()), 1e-9));
}

int counters_worker_main() {
  // What a kernel prints must not stand in the answer.
  const int answers = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  std::string line;
  if (!std::getline(std::cin, line)) return 0;
  const Json request = Json::parse(line, nullptr, false);
  const std::string answer = serve(request).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::size_t sent = 0;
  while (sent < answer.size()) {
    const ssize_t n = write(answers, answer.data() + sent, answer.size() - sent);
    if (n < 0) return 3;
    sent += static_cast<std::size_t>(n);
  }
  return 0;
}

}  // namespace ktune::probe
