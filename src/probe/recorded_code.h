#pragma once

#include <cstdint>
#include <string>

#include "base/notices.h"
#include "model/record.h"
#include "store/store.h"
#include "sweep/variant_choice.h"

// A recorded trial: found by what it measured, and its code made again.

namespace ktune::probe {

/// The number of the trial that `ktune report` would show of this variant of a problem (model::matches): of the newest
/// session that has one, the finalist's timing where there is one. Throws Error(kNoData) where there is none,
/// Error(kUsage) for an unknown parameter, "did you mean", and for words that several problems have.
std::int64_t find_trial(const model::Dataset& dataset, const std::string& op, const std::string& asked,
                        const sweep::VariantChoice& choice);

enum class CodeView : std::uint8_t { kLog, kPtx, kSass };

/// Compiles a recorded trial's variant from the op's files as they are now (`config`: its TOML; "": the op that comes
/// with ktune), and returns the compiler's log, the PTX or the machine code. Notices say when that is not what was
/// recorded. Throws Error(kUsage) where the op has other parameters now, Error(kNo) where it does not compile,
/// Error(kEnvironment) without a disassembler.
std::string recorded_code(store::Store& store, const model::TrialRecord& trial, const std::string& config,
                          CodeView view, const Notices& notices);

}  // namespace ktune::probe
