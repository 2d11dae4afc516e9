#include "trial/device_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "compile/compile.h"
#include "measure/noise.h"

namespace ktune::trial {
namespace {

/// Launches before the first samples of a problem go on for this long: clocks rise and lazy set-up is done.
constexpr double kWarmUpMs = 25.0;
constexpr const char* kAfterLaunches = "after further launches";

std::string timer_problem(device::Device& device, const model::TimerRequest& request) {
  return request.is_auto() ? std::string() : device.timer_problem(*request.named);
}

}  // namespace

model::Result<model::Timer> timer_for(device::Device& device, const model::TimerRequest& request) {
  const std::vector<model::Timer> offered = device.timers();
  model::Result<model::Timer> timer = measure::choose_timer(request, offered);
  if (timer) return timer;
  if (const std::string why = timer_problem(device, request); !why.empty()) timer.error().reason += " (" + why + ")";
  return timer;
}

model::Status check_timer(device::Device& device, const model::TimerRequest& request) {
  if (const std::string why = timer_problem(device, request); !why.empty())
    return model::fail(model::Outcome::kRejected, why);
  const model::Result<model::Timer> chosen = measure::choose_timer(request, device.timers());
  if (!chosen) return tl::unexpected(chosen.error());
  return {};
}

model::Result<std::unique_ptr<TrialProblem>> TrialProblem::set_up(device::Device& device, model::ProblemPlan plan,
                                                                  const model::KernelBinary& reference) {
  device.announce(plan.op, plan.problem, "");
  const model::Result<device::ModuleId> module = device.load(reference);
  if (!module) return tl::unexpected(module.error());
  std::unique_ptr<TrialProblem> problem(new TrialProblem(device, *module));
  auto memory = verify::ProblemMemory::create(device, std::move(plan), *module);
  if (!memory) return tl::unexpected(memory.error());
  problem->memory_ = std::move(*memory);
  return problem;
}

model::Result<std::unique_ptr<Trial>> Trial::load(TrialProblem& problem, model::VariantPlan plan,
                                                  const model::KernelBinary& binary) {
  device::Device& device = problem.device_;
  device.announce(problem.plan().op, problem.plan().problem, plan.variant);
  const model::Result<device::ModuleId> module = device.load(binary);
  if (!module) return tl::unexpected(module.error());
  model::Result<verify::LoadedVariant> loaded = verify::load_variant(*problem.memory_, *module, std::move(plan));
  if (!loaded) {
    device.unload(*module);
    return tl::unexpected(loaded.error());
  }
  std::unique_ptr<Trial> trial(new Trial(problem, std::move(*loaded)));
  std::error_code missing;  // a fake binary has no file
  if (std::filesystem::is_regular_file(binary.path, missing)) trial->state_ = compile::state_of(read_file(binary.path));
  return trial;
}

Trial::~Trial() {
  for (int set = 0; set < touched_; ++set)
    if (!problem_.memory_->set(set).restore(verify::kPatterns[0])) break;  // the device is lost: the next call says so
  problem_.device_.unload(variant_.module);
}

model::Result<verify::Verification> Trial::verify() {
  touched_ = std::max(touched_, 1);
  model::Result<verify::Verification> report = verify::run_and_inspect(*problem_.memory_, variant_);
  verified_ = report && report->ok;
  if (report) varies_ = report->varies;
  if (report && report->lasting) problem_.damaged_ = true;
  return report;
}

/// Its launches on so many sets, or on as many as there is memory for.
model::Result<std::vector<device::TimedCall>> Trial::rotation(int wanted) {
  verify::ProblemMemory& memory = *problem_.memory_;
  if (const model::Status grown = memory.grow(wanted); !grown) return tl::unexpected(grown.error());
  std::vector<device::TimedCall> rotation;
  for (int set = 0; set < std::min(wanted, memory.sets()); ++set) {
    touched_ = std::max(touched_, set + 1);
    if (const model::Status done = memory.set(set).restore(verify::kPatterns[0]); !done)
      return tl::unexpected(done.error());
    model::Result<device::TimedCall> call = verify::timed_call(memory, variant_, set);
    if (!call) return tl::unexpected(call.error());
    rotation.push_back(std::move(*call));
  }
  return rotation;
}

model::Result<std::vector<device::TimedCall>> Trial::rotation(const measure::Request& request) {
  const model::Result<model::Timer> timer = timer_for(problem_.device_, request.timer);
  if (!timer) return tl::unexpected(timer.error());
  return rotation(
      measure::rotation_sets(problem_.device_.facts(), problem_.memory_->set_bytes(), request.cache_state, *timer));
}

model::Result<measure::Measurement> Trial::measure(const measure::Request& request) {
  KTUNE_CHECK(verified_);
  device::Device& device = problem_.device_;
  const auto calls = rotation(request);
  if (!calls) return tl::unexpected(calls.error());
  const bool takes_time = row_of(*timer_for(device, request.timer)).takes_time;
  const double warm_up_ms = problem_.warm_ || !takes_time ? 0.0 : kWarmUpMs;
  if (const model::Status done = measure::warm_up(device, *calls, warm_up_ms); !done)
    return tl::unexpected(done.error());
  problem_.warm_ = true;
  model::Result<measure::Measurement> report = measure::take_samples(device, *calls, request);
  if (!report) return report;
  if (report->wrong) return wrong_launch(*report->wrong);
  if (const model::Status right = verify_again(calls->size(), "after timing"); !right)
    return tl::unexpected(right.error());
  model::Status plausible = verify_on_new_values(static_cast<int>(calls->size()) - 1);
  if (plausible) plausible = check_plausible(*report, request.cache_state);
  if (!plausible) return tl::unexpected(plausible.error());
  if (!state_.empty())
    report->warnings.push_back(
        measure::warning_text(measure::Noise::kState, "its binary has the __device__ variables " + join(state_, ", ")));
  if (!varies_.empty())
    report->warnings.push_back(
        measure::warning_text(measure::Noise::kVaries, "two runs over the same inputs differ in " + varies_));
  return report;
}

/// As close together as they come, so with nothing between two launches: what updates its operands in place gets
/// further and further, and one more launch on fresh ones shows whether it is right.
model::Status Trial::launch(int times) {
  KTUNE_CHECK(verified_);
  const auto calls = rotation(1);
  if (!calls) return tl::unexpected(calls.error());
  for (int i = 0; i < times; ++i)
    if (const model::Status done = problem_.device_.launch(calls->front().launches); !done) return done;
  if (problem_.memory_->updates_in_place())
    if (const model::Status done = launch_fresh(problem_.device_, calls->front()); !done) return done;
  return verify_again(1, kAfterLaunches);
}

model::Status Trial::launch_evicted(int times, const measure::Request& request) {
  KTUNE_CHECK(verified_);
  device::Device& device = problem_.device_;
  const auto calls = rotation(request);
  if (!calls) return tl::unexpected(calls.error());
  const auto timed = device.time(*calls, {times, request.cache_state, device.timers().front()});
  if (!timed) return tl::unexpected(timed.error());
  if (timed->wrong) return wrong_launch(*timed->wrong);
  return verify_again(std::min(calls->size(), static_cast<std::size_t>(times)), kAfterLaunches);
}

model::Result<device::DramTraffic> Trial::count_traffic() {
  KTUNE_CHECK(verified_);
  const auto calls = rotation(1);
  if (!calls) return tl::unexpected(calls.error());
  const auto traffic = problem_.device_.traffic(calls->front());
  if (!traffic) return traffic;
  if (const model::Status right = verify_again(1, "after counting"); !right) return tl::unexpected(right.error());
  return traffic;
}

tl::unexpected<model::Failure> Trial::wrong_result(const std::string& reason) {
  verified_ = false;
  return model::fail(model::Outcome::kWrongResult, reason);
}

tl::unexpected<model::Failure> Trial::wrong_launch(const device::WrongLaunch& wrong) {
  const model::Result<std::string> text = verify::wrong_launch_text(*problem_.memory_, wrong);
  if (!text) return tl::unexpected(text.error());
  return wrong_result(fmt::format("launch {} of the timed ones: {}", wrong.sample + 1, *text));
}

/// The sets' addresses and values go together for as long as a variant is timed: one that remembers results by address
/// is right until the values change.
model::Status Trial::verify_on_new_values(int set) {
  const auto report = verify::run_on_other_values(*problem_.memory_, variant_, set);
  if (!report) return tl::unexpected(report.error());
  if (!report->ok) return wrong_result("after timing, on new values: " + report->reason);
  return {};
}

model::Status Trial::check_plausible(const measure::Measurement& report, model::CacheState cache_state) {
  const double least_us = problem_.plan().least_cold_us;
  const double time_us = measure::summarize(report.samples).time_us;
  if (cache_state == model::CacheState::kWarm || !row_of(report.samples.timer).evicts || time_us >= least_us) return {};
  return wrong_result(
      fmt::format("implausible: {}, and at its datasheet's rate the memory needs {} for what [cost] says is read, and "
                  "written beyond "
                  "L2; either it skips work, or [cost] counts bytes that need not move",
                  format_time_us(time_us), format_time_us(least_us)));
}

/// The outputs that the last launch on each set left, and whatever else it must not have touched.
model::Status Trial::verify_again(std::size_t sets, const std::string& when) {
  if (const model::Status done = problem_.device_.synchronize(); !done) return done;
  for (int set = 0; set < static_cast<int>(sets); ++set) {
    const auto report = verify::inspect_outputs(*problem_.memory_, variant_, set);
    if (!report) return tl::unexpected(report.error());
    if (report->lasting) problem_.damaged_ = true;
    if (!report->ok) return wrong_result(when + ": " + report->reason);
  }
  return {};
}

}  // namespace ktune::trial
