#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "measure/measure.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "model/timing.h"
#include "verify/verify.h"

// One trial on a device of this process: load → verify → measure → verify again → restore. Everything that runs a
// variant goes this way: the worker's session, `ktune run` and the process that counts.

namespace ktune::trial {

/// The timer a request stands for on a device. kRejected when it is not to be had, with what the device says of it.
model::Result<model::Timer> timer_for(device::Device& device, const model::TimerRequest& request);
/// Whether a timer is there and passes its self-test, before anything is loaded; kRejected with the reason.
model::Status check_timer(device::Device& device, const model::TimerRequest& request);

/// A problem on a device, ready for trials: its inputs are filled and its reference is computed.
class TrialProblem {
 public:
  /// Loads the reference's binary and runs it. The device must outlive the result.
  static model::Result<std::unique_ptr<TrialProblem>> set_up(device::Device& device, model::ProblemPlan plan,
                                                             const model::KernelBinary& reference);
  /// No trial of it may be left.
  ~TrialProblem() { device_.unload(reference_); }
  TrialProblem(const TrialProblem&) = delete;
  TrialProblem& operator=(const TrialProblem&) = delete;

  const model::ProblemPlan& plan() const { return memory_->plan(); }
  /// A trial damaged what cannot be put back: this process must run no other one.
  bool is_damaged() const { return damaged_; }

 private:
  friend class Trial;
  TrialProblem(device::Device& device, device::ModuleId reference) : device_(device), reference_(reference) {}

  device::Device& device_;
  device::ModuleId reference_;
  std::unique_ptr<verify::ProblemMemory> memory_;
  bool warm_ = false;  ///< clocks are up: only the first timing of a problem warms up for longer
  bool damaged_ = false;
};

/// One variant of a problem. Several may be loaded at once; they share the problem's buffers and take turns.
class Trial {
 public:
  /// Loads the binary and checks the launches against the device's limits; launches nothing. The problem must outlive
  /// the result.
  static model::Result<std::unique_ptr<Trial>> load(TrialProblem& problem, model::VariantPlan plan,
                                                    const model::KernelBinary& binary);
  /// Restores the buffers it wrote to, and unloads.
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// Runs it twice and looks at what came out (verify::run_and_inspect). A report that is not ok is no failure.
  model::Result<verify::Verification> verify();
  bool is_verified() const { return verified_; }

  /// Warms up and takes samples. kWrongResult where a timed launch was wrong ("launch 17 of the timed ones: …"), what
  /// they left ("after timing: …"), or one more launch on other values at the same addresses ("after timing, on new
  /// values: …"), and where no memory is so fast ("implausible: …"); then the variant is no longer verified. Only for a
  /// verified variant, as everything below.
  model::Result<measure::Measurement> measure(const measure::Request& request);
  /// Launches it so many times on one set of buffers, as close together as they come; then verifies as measure does.
  model::Status launch(int times);
  /// The same with the cache in the asked state before each launch, as the device's first timer does it.
  model::Status launch_evicted(int times, const measure::Request& request);
  /// What one call moves between the device and its memory, then verifies; in a process that times nothing.
  model::Result<device::DramTraffic> count_traffic();

 private:
  Trial(TrialProblem& problem, verify::LoadedVariant variant) : problem_(problem), variant_(std::move(variant)) {}

  model::Result<std::vector<device::TimedCall>> rotation(int wanted);
  model::Result<std::vector<device::TimedCall>> rotation(const measure::Request& request);
  tl::unexpected<model::Failure> wrong_result(const std::string& reason);
  tl::unexpected<model::Failure> wrong_launch(const device::WrongLaunch& wrong);
  model::Status verify_again(std::size_t sets, const std::string& when);
  model::Status verify_on_new_values(int set);
  model::Status check_plausible(const measure::Measurement& report, model::CacheState cache_state);

  TrialProblem& problem_;
  verify::LoadedVariant variant_;
  bool verified_ = false;
  std::string varies_;              ///< what two runs of it gave differently
  std::vector<std::string> state_;  ///< what its binary can keep from launch to launch
  int touched_ = 0;                 ///< it wrote to the problem's first so many sets
};

}  // namespace ktune::trial
