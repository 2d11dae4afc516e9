#include "trial/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/own_binary.h"
#include "base/process.h"
#include "base/text.h"
#include "device/cpu/cpu_device.h"
#include "trial/crash.h"
#include "trial/device_lock.h"
#include "trial/protocol.h"

namespace ktune::trial {
namespace {

using model::Outcome;

/// Opening a GPU takes seconds on a host with many, more while another process ends.
constexpr double kStartDeadlineS = 120.0;
/// A problem's inputs and its naive reference in f64 may take several times as long as any variant.
constexpr double kProblemDeadlines = 4.0;
/// Time over the budget that taking the samples may need: eviction, warm-up, the check afterwards.
constexpr double kMeasureBudgets = 10.0;
constexpr double kLookS = 0.1;
constexpr double kAfterInterruptS = 2.0;
constexpr double kEndS = 5.0;
/// A device that this many new workers in a row cannot use is lost: every further variant would fail the same way.
constexpr int kMostLostStarts = 3;
constexpr double kPauseS = 0.5;

std::string text_of(const Json& json, const char* field) {
  return json.contains(field) && json.at(field).is_string() ? json.at(field).get<std::string>() : std::string();
}

Error error_of(const Json& json) {
  const int kind = std::clamp(json.value("kind", static_cast<int>(ErrorKind::kEnvironment)), 0,
                              static_cast<int>(ErrorKind::kInterrupted));
  return Error(static_cast<ErrorKind>(kind), text_of(json, "message"), text_of(json, "hint"), text_of(json, "where"));
}

}  // namespace

struct Worker::Impl {
  std::string device;
  double deadline_s;
  std::optional<ChildProcess> child;
  std::optional<model::DeviceFacts> facts;
  std::optional<DeviceLock> lock;
  std::function<void(const std::string&)> say;
  double lock_limit_s = 0.0;
  std::optional<Json> problem;  ///< the request that set it
  bool problem_sent = false;
  std::set<std::int64_t> loaded;
  std::set<std::int64_t> verified;
  std::set<std::int64_t> ever_verified;
  int starts = 0;
  std::int64_t next_id = 0;

  void forget_child() {
    child.reset();
    problem_sent = false;
    loaded.clear();
    verified.clear();
  }

  void start();
  std::optional<model::Failure> replace_child();
  model::Status make_ready();
  model::Failure end_dead_child();
  model::Result<Json> await(const char* verb, std::int64_t id, double limit_s);
  model::Result<Json> exchange(Json request, double limit_s);
  model::Result<Json> call(const Json& request, double limit_s);
};

model::Failure Worker::Impl::end_dead_child() {
  const std::optional<ExitStatus> status = child->wait(kEndS);
  if (!status) child->kill();
  const model::Failure failure = crash_failure(status.value_or(ExitStatus{}), child->stderr_tail());
  forget_child();
  return failure;
}

/// The answer to the request `id`, or what became of the worker.
model::Result<Json> Worker::Impl::await(const char* verb, std::int64_t id, double limit_s) {
  const double end = now_s() + limit_s;
  double interrupted_at = -1.0;
  while (true) {
    const std::optional<std::string> line = child->read_line(std::clamp(end - now_s(), 0.0, kLookS));
    if (line) {
      Json reply = Json::parse(*line, nullptr, false);
      if (reply.is_object() && reply.contains("id") && reply.at("id") == id) return reply;
      child->kill();
      forget_child();
      return model::fail(Outcome::kCrashed, fmt::format("the worker gave no sensible answer ({})", verb), *line);
    }
    if (child->at_end()) return tl::unexpected(end_dead_child());
    const double now = now_s();
    if (interrupted() && interrupted_at < 0) interrupted_at = now;
    const bool given_up = interrupted_at >= 0 && now > interrupted_at + kAfterInterruptS;
    if (!given_up && now < end) continue;
    const std::string tail = child->stderr_tail();
    child->kill();
    forget_child();
    if (given_up) throw Error(ErrorKind::kInterrupted, "interrupted");
    return model::fail(Outcome::kTimedOut, fmt::format("no answer within {:.3g} s ({})", limit_s, verb), tail);
  }
}

/// One request and its answer's fields. Throws what the worker calls an error.
model::Result<Json> Worker::Impl::exchange(Json request, double limit_s) {
  const std::int64_t id = next_id++;
  const std::string verb = request.at("verb").get<std::string>();
  request["id"] = id;
  if (!child->write_line(request.dump(-1, ' ', false, Json::error_handler_t::replace))) {
    return tl::unexpected(end_dead_child());
  }
  model::Result<Json> reply = await(verb.c_str(), id, limit_s);
  if (!reply) return reply;
  if (reply->value("bye", false)) {
    if (!child->wait(kEndS)) child->kill();
    forget_child();
  }
  if (reply->contains("failure")) return tl::unexpected(reply->at("failure").get<model::Failure>());
  if (reply->contains("error")) throw error_of(reply->at("error"));
  return reply;
}

void Worker::Impl::start() {
  const bool sanitized = device == "cpu-sanitize";
  child.emplace(std::vector<std::string>{own_binary(), "worker", "--device", device},
                sanitized ? device::sanitizer_environment() : std::vector<std::pair<std::string, std::string>>{});
  ++starts;
  const model::Result<Json> reply = exchange(Json{{"verb", "facts"}}, kStartDeadlineS);
  if (!reply) {
    throw Error(ErrorKind::kEnvironment, fmt::format("device {} cannot be opened: {}", device, reply.error().reason));
  }
  facts = reply->at("facts").get<model::DeviceFacts>();
}

/// A new worker after one that died: where it started and held the problem before, it should again. Nothing, or why
/// not.
std::optional<model::Failure> Worker::Impl::replace_child() {
  try {
    if (!child) start();
    if (!problem || problem_sent) return std::nullopt;
    const model::Result<Json> reply = exchange(*problem, kProblemDeadlines * deadline_s);
    problem_sent = reply.has_value();
    return reply ? std::nullopt : std::optional(reply.error());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInterrupted) throw;
    return model::Failure{Outcome::kCrashed, error.message(), error.hint()};
  }
}

/// A running worker that holds the current problem. Throws Error(kEnvironment) when the device seems to be lost.
model::Status Worker::Impl::make_ready() {
  if (starts == 0) start();
  for (int attempt = 1;; ++attempt) {
    if (child && (!problem || problem_sent)) return {};
    std::optional<model::Failure> failure = replace_child();
    if (!failure) return {};
    const bool dead = failure->outcome == Outcome::kCrashed || failure->outcome == Outcome::kTimedOut;
    if (!dead) {
      failure->reason = "the problem could not be set up in a new worker: " + failure->reason;
      return tl::unexpected(*failure);
    }
    if (attempt == kMostLostStarts) {
      throw Error(ErrorKind::kEnvironment,
                  fmt::format("device {} was lost: {} new workers in a row could not use it: {}", device, attempt,
                              failure->reason),
                  "what was measured is kept; look at nvidia-smi and dmesg (Xid errors), then give the same command "
                  "again");
    }
    const double end = now_s() + kPauseS * attempt;
    while (now_s() < end && !interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (interrupted()) throw Error(ErrorKind::kInterrupted, "interrupted");
  }
}

/// A request about a variant. What the worker calls an error about it is a failure of the variant.
model::Result<Json> Worker::Impl::call(const Json& request, double limit_s) {
  if (const model::Status ready = make_ready(); !ready) return tl::unexpected(ready.error());
  try {
    return exchange(request, limit_s);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInterrupted) throw;
    return model::fail(Outcome::kCrashed, error.message());
  }
}

Worker::Worker(std::string device, double deadline_s) : impl_(std::make_unique<Impl>()) {
  impl_->device = std::move(device);
  impl_->deadline_s = deadline_s;
}
Worker::~Worker() = default;
Worker::Worker(Worker&&) noexcept = default;
Worker& Worker::operator=(Worker&&) noexcept = default;

void Worker::wait_for_device(std::function<void(const std::string&)> say, double limit_s) {
  impl_->say = std::move(say);
  impl_->lock_limit_s = limit_s;
}

model::DeviceFacts Worker::facts() {
  if (!impl_->facts) impl_->start();
  return *impl_->facts;
}

model::MachineState Worker::state() {
  if (!impl_->child) impl_->start();
  const model::Result<Json> reply = impl_->exchange(Json{{"verb", "state"}}, impl_->deadline_s);
  return reply ? reply->at("state").get<model::MachineState>() : model::MachineState{};
}

model::Status Worker::check_timer(model::Timer timer) {
  if (!impl_->child) impl_->start();
  const model::Result<Json> reply =
      impl_->exchange(Json{{"verb", "timer"}, {"timer", name_of(timer)}}, impl_->deadline_s);
  if (!reply) return tl::unexpected(reply.error());
  return {};
}

model::Status Worker::set_problem(const model::ProblemPlan& plan, const model::KernelBinary& reference) {
  const model::DeviceFacts facts = this->facts();
  if (!facts.uuid.empty() && facts.kind != "cpu" && !impl_->lock) {
    impl_->lock = DeviceLock::acquire(facts.uuid, facts.name, impl_->lock_limit_s, impl_->say);
  }
  impl_->problem.reset();
  impl_->problem_sent = false;
  impl_->loaded.clear();
  impl_->verified.clear();
  const Json request{{"verb", "problem"}, {"plan", plan}, {"binary", reference}};
  model::Result<Json> reply = impl_->call(request, kProblemDeadlines * impl_->deadline_s);
  // What killed it may be what the variants before left in that process: a new one tells.
  if (!reply && reply.error().outcome == Outcome::kCrashed)
    reply = impl_->call(request, kProblemDeadlines * impl_->deadline_s);
  if (!reply) return tl::unexpected(reply.error());
  impl_->problem = request;
  impl_->problem_sent = true;
  return {};
}

model::Status Worker::load(std::int64_t variant, const model::VariantPlan& plan, const model::KernelBinary& binary) {
  impl_->verified.erase(variant);
  impl_->ever_verified.erase(variant);
  const Json request{{"verb", "load"}, {"variant", variant}, {"plan", plan}, {"binary", binary}};
  const model::Result<Json> reply = impl_->call(request, impl_->deadline_s);
  if (!reply) {
    impl_->loaded.erase(variant);
    return tl::unexpected(reply.error());
  }
  impl_->loaded.insert(variant);
  return {};
}

model::Result<verify::Verification> Worker::verify(std::int64_t variant) {
  const model::Result<Json> reply = impl_->call(Json{{"verb", "verify"}, {"variant", variant}}, impl_->deadline_s);
  if (!reply) return tl::unexpected(reply.error());
  const verify::Verification report = reply->at("report").get<verify::Verification>();
  if (report.ok && impl_->child) {
    impl_->verified.insert(variant);
    impl_->ever_verified.insert(variant);
  } else {
    impl_->verified.erase(variant);
    impl_->ever_verified.erase(variant);
  }
  return report;
}

model::Result<measure::Measurement> Worker::measure(std::int64_t variant, const measure::Request& request) {
  KTUNE_CHECK(impl_->ever_verified.contains(variant));
  if (!impl_->verified.contains(variant)) {
    return model::fail(Outcome::kCrashed, "it was loaded in a worker that has been replaced since");
  }
  const double limit_s = impl_->deadline_s + kMeasureBudgets * request.budget_ms * 1e-3;
  const Json verb{{"verb", "measure"}, {"variant", variant}, {"request", request}};
  const model::Result<Json> reply = impl_->call(verb, limit_s);
  if (!reply) return tl::unexpected(reply.error());
  return reply->at("report").get<measure::Measurement>();
}

void Worker::unload(std::int64_t variant) {
  impl_->verified.erase(variant);
  impl_->ever_verified.erase(variant);
  if (impl_->loaded.erase(variant) == 0 || !impl_->child) return;
  // A worker that dies here takes nothing with it that is still wanted.
  static_cast<void>(impl_->call(Json{{"verb", "unload"}, {"variant", variant}}, impl_->deadline_s));
}

bool Worker::is_loaded(std::int64_t variant) const { return impl_->loaded.contains(variant); }

int Worker::restarts() const { return std::max(impl_->starts - 1, 0); }

}  // namespace ktune::trial
