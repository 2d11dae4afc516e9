#pragma once

#include <string>

#include "device/device.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "verify/problem_memory.h"

// Is a variant right? Outputs and scratch are poisoned, inputs are those the reference read; after the run every output
// element is compared with the reference's, every guard band and every input is looked at.

namespace ktune::verify {

struct Verification {
  bool ok = false;
  double margin = 0.0;   ///< worst over the outputs
  std::string reason;    ///< when not ok: "y: 12 of 4096 elements differ, first at [3, 17]: 0.5, expected 0.25"
  bool lasting = false;  ///< the run damaged what cannot be put back: the process must be replaced

  static constexpr bool kStrict = true;
  static void fields(auto& self, auto&& field) {
    field("ok", self.ok);
    field("margin", self.margin);
    field("reason", self.reason);
    field("lasting", self.lasting, {.may_miss = true});
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

/// The variant's launches on one of the problem's sets.
model::Result<device::LaunchSequence> launches_on(const ProblemMemory& memory, const LoadedVariant& variant, int set);

/// Poisons, restores, launches on a set, waits and looks at what came out. A launch that fails is a Failure.
model::Result<Verification> run_and_inspect(ProblemMemory& memory, const LoadedVariant& variant, int set);
/// Looks at what earlier launches on a set left.
model::Result<Verification> inspect_outputs(ProblemMemory& memory, const LoadedVariant& variant, int set);

}  // namespace ktune::verify
