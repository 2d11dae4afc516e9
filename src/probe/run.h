#pragma once

#include <optional>
#include <string>

#include "base/notices.h"
#include "measure/measure.h"
#include "model/op_spec.h"
#include "model/plan.h"
#include "model/record.h"
#include "sweep/selection.h"
#include "sweep/variant_choice.h"

namespace ktune::probe {

/// `ktune run`: one trial of one variant in this process.
struct RunOptions {
  sweep::Selection selection;  ///< one problem
  std::string device;          ///< as device::resolve_device_name gave it
  sweep::VariantChoice variant;
  std::string database;  ///< that a winner is looked up in
  measure::Request request;
  int launches = 0;          ///< > 0: time nothing, launch so many times after verifying
  int evicted_launches = 0;  ///< > 0: the same, with the cache in the asked state before each launch
  std::string keep_binary;   ///< file to write the kernels to, and FILE.json with their launches; "": neither
  double compile_deadline_s = 60.0;
  bool counters = false;  ///< also count the bytes that move, in a process of its own
  Notices notices;        ///< each step as it is done
};

struct RunResult {
  model::Cost cost;                             ///< of the problem
  std::optional<measure::Measurement> timed;    ///< nothing where it was only launched
  std::optional<model::TrafficRecord> counted;  ///< where asked for
};

/// Compiles, loads, verifies, then times or launches, verifies again. Throws Error(kUsage) for more than one problem or
/// a variant that is not in the space, Error(kNo) with the step and the failure where one fails. Ctrl-C ends the
/// process while the variant runs.
RunResult run(const RunOptions& options);

}  // namespace ktune::probe
