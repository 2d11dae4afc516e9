#include "trial/device_trial.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"

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
  return std::unique_ptr<Trial>(new Trial(problem, std::move(*loaded)));
}

Trial::~Trial() {
  for (int set = 0; set < touched_; ++set)
    if (!problem_.memory_->restore(set)) break;  // the device is lost, and whoever asks it next is told
  problem_.device_.unload(variant_.module);
}

model::Result<verify::Verification> Trial::verify() {
  touched_ = std::max(touched_, 1);
  model::Result<verify::Verification> report = verify::run_and_inspect(*problem_.memory_, variant_, 0);
  verified_ = report && report->ok;
  if (report && report->lasting) problem_.damaged_ = true;
  return report;
}

/// Its launches on so many sets, or on as many as there is memory for. Poisoned once more: what the outputs hold
/// afterwards was written by the launches that follow.
model::Result<std::vector<device::LaunchSequence>> Trial::rotation(int wanted) {
  verify::ProblemMemory& memory = *problem_.memory_;
  if (const model::Status grown = memory.grow(wanted); !grown) return tl::unexpected(grown.error());
  std::vector<device::LaunchSequence> rotation;
  for (int set = 0; set < std::min(wanted, memory.sets()); ++set) {
    touched_ = std::max(touched_, set + 1);
    if (const model::Status done = memory.restore(set); !done) return tl::unexpected(done.error());
    model::Result<device::LaunchSequence> launches = verify::launches_on(memory, variant_, set);
    if (!launches) return tl::unexpected(launches.error());
    rotation.push_back(std::move(*launches));
  }
  return rotation;
}

model::Result<std::vector<device::LaunchSequence>> Trial::rotation(const measure::Request& request) {
  const model::Result<model::Timer> timer = timer_for(problem_.device_, request.timer);
  if (!timer) return tl::unexpected(timer.error());
  return rotation(
      measure::rotation_sets(problem_.device_.facts(), problem_.memory_->set_bytes(), request.cache_state, *timer));
}

model::Result<measure::Measurement> Trial::measure(const measure::Request& request) {
  KTUNE_CHECK(verified_);
  device::Device& device = problem_.device_;
  const auto launches = rotation(request);
  if (!launches) return tl::unexpected(launches.error());
  const bool takes_time = row_of(*timer_for(device, request.timer)).takes_time;
  const double warm_up_ms = problem_.warm_ || !takes_time ? 0.0 : kWarmUpMs;
  if (const model::Status done = measure::warm_up(device, *launches, warm_up_ms); !done)
    return tl::unexpected(done.error());
  problem_.warm_ = true;
  model::Result<measure::Measurement> report = measure::take_samples(device, *launches, request);
  if (!report) return report;
  if (const model::Status right = verify_again(launches->size(), "after timing"); !right)
    return tl::unexpected(right.error());
  return report;
}

model::Status Trial::launch(int times) {
  KTUNE_CHECK(verified_);
  const auto launches = rotation(1);
  if (!launches) return tl::unexpected(launches.error());
  for (int i = 0; i < times; ++i)
    if (const model::Status done = problem_.device_.launch(launches->front()); !done) return done;
  return verify_again(1, kAfterLaunches);
}

model::Status Trial::launch_evicted(int times, const measure::Request& request) {
  KTUNE_CHECK(verified_);
  device::Device& device = problem_.device_;
  const auto launches = rotation(request);
  if (!launches) return tl::unexpected(launches.error());
  const auto timed = device.time(*launches, {times, request.cache_state, device.timers().front()});
  if (!timed) return tl::unexpected(timed.error());
  return verify_again(std::min(launches->size(), static_cast<std::size_t>(times)), kAfterLaunches);
}

model::Result<device::DramTraffic> Trial::count_traffic() {
  KTUNE_CHECK(verified_);
  const auto launches = rotation(1);
  if (!launches) return tl::unexpected(launches.error());
  const auto traffic = problem_.device_.traffic(launches->front());
  if (!traffic) return traffic;
  if (const model::Status right = verify_again(1, "after counting"); !right) return tl::unexpected(right.error());
  return traffic;
}

/// The outputs that the last launches left; where they update their operands in place many times over, those of one
/// more launch on fresh values.
model::Status Trial::verify_again(std::size_t sets, const std::string& when) {
  verify::ProblemMemory& memory = *problem_.memory_;
  if (const model::Status done = problem_.device_.synchronize(); !done) return done;
  for (int set = 0; set < static_cast<int>(sets); ++set) {
    const model::Result<verify::Verification> report = memory.updates_in_place()
                                                           ? verify::run_and_inspect(memory, variant_, set)
                                                           : verify::inspect_outputs(memory, variant_, set);
    if (!report) return tl::unexpected(report.error());
    if (report->lasting) problem_.damaged_ = true;
    if (report->ok) continue;
    verified_ = false;
    return model::fail(model::Outcome::kWrongResult, when + ": " + report->reason);
  }
  return {};
}

}  // namespace ktune::trial
