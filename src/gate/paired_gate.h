#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/notices.h"
#include "model/provenance.h"
#include "sweep/kernel_processes.h"
#include "sweep/selection.h"
#include "sweep/variant_choice.h"
#include "verdict/judge.h"
#include "verdict/result.h"

namespace ktune::gate {

struct PairedGateOptions {
  sweep::Selection selection;
  std::string base, candidate;   ///< as resolve_reference takes them
  sweep::VariantChoice variant;  ///< of trees and spec files
  std::string database;
  bool time_identical = false;  ///< time also what is the same on both sides
  bool self = false;            ///< --aa: base against itself; keeps what it learns of the device in the database
  verdict::Rules rules;
  sweep::ProcessOptions process;  ///< its device is resolved already
  sweep::OpenProcesses open_processes = sweep::open_device_processes;
  std::uint64_t seed = 1;
  model::Provenance provenance;
  Notices notices;
};

/// Compiles both sides, times what differs in interleaved processes, times once more what asks for it, and judges.
/// Throws Error(kUsage | kEnvironment | kNoData | kInterrupted). `unkept`: why an A/A run's noise could not be stored.
verdict::Result run_paired_gate(const PairedGateOptions& options, const model::DeviceFacts& facts,
                                std::optional<Error>& unkept);

}  // namespace ktune::gate
