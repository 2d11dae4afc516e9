#pragma once

#include <cstddef>
#include <string>

#include "device/device.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "verify/problem_memory.h"

// Is a variant right? It runs twice over the same inputs, with other contents of the memory that it must not read;
// after each run every output element is compared with the reference's, every guard band and every input is looked at.

namespace ktune::verify {

struct Verification {
  bool ok = false;
  double margin = 0.0;   ///< worst over the outputs
  std::string reason;    ///< when not ok: "y: 12 of 4096 elements differ, first at [3, 17]: 0.5, expected 0.25"
  bool lasting = false;  ///< the run damaged what cannot be put back: the process must be replaced
  std::string varies;    ///< what two runs gave differently: "12 of 4096 elements of y"; empty: nothing

  static constexpr bool kStrict = true;
  static void fields(auto& self, auto&& field) {
    field("ok", self.ok);
    field("margin", self.margin);
    field("reason", self.reason);
    field("lasting", self.lasting, {.may_miss = true});
    field("varies", self.varies);
  }
};

/// A variant's module and scratch memory. Gives the scratch back when it goes; the module is its maker's.
struct LoadedVariant {
  device::ModuleId module = -1;
  model::VariantPlan plan;
  BufferSet scratch;
};

/// Allocates scratch and checks every launch against the device's limits; launches nothing.
model::Result<LoadedVariant> load_variant(ProblemMemory& memory, device::ModuleId module, model::VariantPlan plan);

/// The variant's launches on one of the problem's sets, with what renews and what checks its operands.
model::Result<device::TimedCall> timed_call(const ProblemMemory& memory, const LoadedVariant& variant, int set);

/// Runs a variant on set 0 with each of kPatterns and looks at what came out. A launch that fails is a Failure. Wrong
/// are also results that differ between the two runs, unless the plan says that they may.
model::Result<Verification> run_and_inspect(ProblemMemory& memory, LoadedVariant& variant);
/// Looks at what the last launch on a set left.
model::Result<Verification> inspect_outputs(ProblemMemory& memory, const LoadedVariant& variant, int set);
/// One launch on a set that has another set's values for it, compared with what the reference made of those: wrong for
/// a variant that remembers results by address. Where there is one set only it gets new values, and the reference runs
/// on them, which may take long.
model::Result<Verification> run_on_other_values(ProblemMemory& memory, const LoadedVariant& variant, int set);
/// Says what was wrong with one of the timed launches: "y: 12 of 4096 elements differ, …".
model::Result<std::string> wrong_launch_text(ProblemMemory& memory, const device::WrongLaunch& wrong);

}  // namespace ktune::verify
