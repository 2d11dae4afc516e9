#pragma once

#include <cstdint>

#include "measure/measure.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "verify/verify.h"

namespace ktune::trial {

/// What runs trials, one verb at a time: a worker process, or a script in tests. It holds one problem and any number of
/// loaded variants of it, which the caller numbers. A verb that fails says why; kCrashed and kTimedOut mean that every
/// loaded variant may be gone (is_loaded tells). Every verb may throw Error(kInterrupted) after Ctrl-C and
/// Error(kEnvironment) when the device is lost.
class Bench {
 public:
  Bench() = default;
  virtual ~Bench() = default;

  /// Allocates and fills the inputs and computes the reference. A failure here ends the problem, not the sweep.
  virtual model::Status set_problem(const model::ProblemPlan& plan, const model::KernelBinary& reference) = 0;
  /// Loads a variant, checks its launches against the device's limits and runs nothing.
  virtual model::Status load(std::int64_t variant, const model::VariantPlan& plan,
                             const model::KernelBinary& binary) = 0;
  /// Poisons the outputs, runs, compares with the reference, checks guard bands and that inputs are unchanged.
  virtual model::Result<verify::Verification> verify(std::int64_t variant) = 0;
  /// Only of a variant that was verified since it was loaded. Verifies again afterwards.
  virtual model::Result<measure::Measurement> measure(std::int64_t variant, const measure::Request& request) = 0;
  virtual void unload(std::int64_t variant) = 0;
  /// False once unloaded, or gone with a worker that was replaced.
  virtual bool is_loaded(std::int64_t variant) const = 0;

 protected:
  Bench(Bench&&) = default;
  Bench& operator=(Bench&&) = default;
};

}  // namespace ktune::trial
