#pragma once

#include <string>
#include <vector>

#include "base/notices.h"
#include "model/provenance.h"
#include "sweep/selection.h"
#include "sweep/variant_choice.h"
#include "verdict/result.h"
#include "verdict/static_rules.h"

namespace ktune::gate {

/// `ktune gate --static`.
struct StaticGate {
  std::string base, candidate;  ///< as resolve_reference takes them
  sweep::Selection selection;
  std::vector<std::string> targets{"sm_80", "sm_90", "sm_100", "sm_120"};
  sweep::VariantChoice variant;  ///< of trees and spec files; of the default, winners are compared too
  std::string database;          ///< its winners are compared too
  bool database_named = false;   ///< by the user: then it has to exist
  verdict::StaticRules rules;
  int jobs = 0;  ///< compile processes, 0: one a core
  double compile_deadline_s = 60.0;
  model::Provenance provenance;
};

/// Compiles both sides for each target, with no device: of every op and problem (the spec's `sweep` problems where no
/// shape is given) the default and what the database names as winner for devices of that target. Kernels that come
/// from the same compiles and launches are one row. A candidate that does not compile, or whose reference does not, is
/// WRONG, a kernel that it lacks NO DATA; what base lacks or cannot compile is NO DATA that stands in nobody's way,
/// unless base's compiler crashed or ran out of time.
///
/// Throws Error(kUsage) for an unknown target or reference, Error(kEnvironment) without compiler or disassembler
/// or where what that prints is not understood, Error(kNoData) when nothing is selected, Error(kInterrupted).
verdict::Result run_static_gate(const StaticGate& options);

}  // namespace ktune::gate
