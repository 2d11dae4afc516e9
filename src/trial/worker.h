#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/facts.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "trial/bench.h"

// The parent's end of the worker process: `ktune worker --device NAME`, spoken to in JSON lines (verbs facts, timer,
// problem, load, verify, measure, unload, state). The parent never creates a CUDA context, so a variant that breaks
// one, hangs or kills its process costs that variant alone.

namespace ktune::trial {

/// One worker and whatever replaces it when it dies. Every call has a deadline; past it the worker is killed and the
/// call fails with kTimedOut; a dead worker gives kCrashed with the signal. The next call starts a new worker and
/// sends it the current problem again; variants loaded before are gone (is_loaded says so: load and verify again).
///
/// While a worker holds a problem on a device with a UUID, that device is locked against other processes' workers.
/// After Ctrl-C a call that gets no answer within two seconds throws Error(kInterrupted).
class Worker : public Bench {
 public:
  /// Starts nothing yet. `device`: as open_device takes it.
  explicit Worker(std::string device, double deadline_s = 30.0);
  ~Worker() override;
  Worker(Worker&&) noexcept;
  Worker& operator=(Worker&&) noexcept;

  /// What to do when another process measures on the device: call `say` once with a line that says so, then wait up to
  /// `limit_s`. Without this (and past the limit) set_problem throws Error(kEnvironment) naming the process.
  void wait_for_device(std::function<void(const std::string&)> say, double limit_s);

  /// Throws Error(kEnvironment) with the device's own message when it cannot be opened.
  model::DeviceFacts facts();
  model::MachineState state();
  /// Whether the device has this timer and it passes its self-test; else kRejected with the reason.
  model::Status check_timer(model::Timer timer);
  /// Once more in a new process where the first one dies.
  model::Status set_problem(const model::ProblemPlan& plan, const model::KernelBinary& reference) override;
  model::Status load(std::int64_t variant, const model::VariantPlan& plan, const model::KernelBinary& binary) override;
  model::Result<verify::Verification> verify(std::int64_t variant) override;
  /// Refuses (a bug) unless verify passed for it since it was loaded; kCrashed when that was in a worker that has been
  /// replaced since.
  model::Result<measure::Measurement> measure(std::int64_t variant, const measure::Request& request) override;
  void unload(std::int64_t variant) override;
  bool is_loaded(std::int64_t variant) const override;

  /// How many times a worker was replaced.
  int restarts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Body of `ktune worker`: opens the device and serves verbs from stdin until it closes. Returns an exit code.
int worker_main(const std::string& device);

}  // namespace ktune::trial
