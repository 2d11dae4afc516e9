#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "cli/selection.h"
#include "gate/judge.h"
#include "gate/result.h"
#include "sweep/processes.h"

namespace ktune::cli {

struct PairedGateOptions {
  Selection selection;
  std::string base, candidate;      ///< as resolve_reference takes them
  std::string variant = "default";  ///< of trees and spec files: default, winner, NAME=V,…
  std::string database;
  bool time_identical = false;  ///< time also what is the same on both sides
  bool self = false;            ///< --aa: base against itself; keeps what it learns of the device in the database
  gate::Rules rules;
  sweep::ProcessOptions process;  ///< its device is resolved already
  std::uint64_t seed = 1;
};

/// Compiles both sides, times what differs in interleaved processes, times once more what asks for it, and judges.
/// Throws Error(kUsage | kEnvironment | kNoData | kInterrupted). `unkept`: why an A/A run's noise could not be stored.
gate::Result run_paired_gate(const PairedGateOptions& options, const model::DeviceFacts& facts,
                             std::optional<Error>& unkept);

}  // namespace ktune::cli
