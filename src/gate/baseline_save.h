#pragma once

#include <string>

#include "gate/stored_gate.h"
#include "sweep/variant_choice.h"

namespace ktune::gate {

/// `ktune baseline save`: what the command line said.
struct BaselineSaveOptions {
  StoredGateOptions run;  ///< file, device, selection, cache, timer, processes
  std::string database;
  sweep::VariantChoice variant{sweep::VariantChoice::Kind::kWinner};
  bool force = false;  ///< replace the file
  bool add = false;    ///< add kernels to the file
};

/// Measures the selected kernels and writes the file. Throws Error(kNo) where a kernel does not verify, Error(kNoData)
/// where `add` finds another machine's file, Error(kEnvironment) where the device was disturbed: then nothing is
/// written.
void save_baseline_run(const BaselineSaveOptions& options);

}  // namespace ktune::gate
