#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/facts.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "model/timing.h"

// The parent's end of the worker process: `ktune worker --device NAME`, spoken to in JSON lines (verbs facts, problem,
// load, verify, measure, unload, state). The parent never creates a CUDA context, so a variant that breaks one, hangs
// or kills its process costs that variant alone.

namespace ktune::trial {

struct VerifyReport {
  bool ok = false;
  double margin = 0.0;   ///< worst over the outputs
  std::string reason;    ///< when not ok: "y: 12 of 4096 elements differ, first at [3, 17]: 0.5, expected 0.25"
};

struct MeasureRequest {
  int samples = 0;               ///< exactly so many when > 0; else as many as fit budget_ms, within [min, max]
  double budget_ms = 20.0;
  int min_samples = 20;
  int max_samples = 1000;
  model::CacheState cache_state = model::CacheState::kCold;
  std::string timer = "auto";    ///< "auto" or a Timer's name
};

struct MeasureReport {
  model::Samples samples;
  model::MachineState before;
  model::MachineState after;
  std::vector<std::string> warnings;
};

/// One worker and whatever replaces it when it dies. Every call has a deadline; past it the worker is killed and the
/// call fails with kTimedOut; a dead worker gives kCrashed with the signal. The next call starts a new worker and
/// sends it the current problem again; variants loaded before are gone (load again).
class Worker {
 public:
  /// Starts nothing yet. `device`: as open_device takes it.
  explicit Worker(std::string device, double deadline_s = 30.0);
  ~Worker();
  Worker(Worker&&) noexcept;
  Worker& operator=(Worker&&) noexcept;

  /// Throws Error(kEnvironment) with the device's own message when it cannot be opened.
  model::DeviceFacts facts();
  model::MachineState state();
  /// Allocates and fills the inputs and computes the reference. A failure here ends the problem, not the sweep.
  model::Status set_problem(const model::ProblemPlan& plan, const model::KernelBinary& reference);
  /// Loads a variant, checks its launches against the device's limits and runs nothing.
  model::Status load(std::int64_t variant, const model::VariantPlan& plan, const model::KernelBinary& binary);
  /// Poisons the outputs, runs, compares with the reference, checks guard bands and that inputs are unchanged.
  model::Result<VerifyReport> verify(std::int64_t variant);
  /// Refuses (a bug) unless verify passed in this worker with this binary; verifies again afterwards.
  model::Result<MeasureReport> measure(std::int64_t variant, const MeasureRequest& request);
  void unload(std::int64_t variant);

  /// How many times a worker was replaced.
  int restarts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Body of `ktune worker`: opens the device and serves verbs from stdin until it closes. Returns an exit code.
int worker_main(const std::string& device);

}  // namespace ktune::trial
