#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/notices.h"
#include "model/provenance.h"
#include "sweep/kernel_processes.h"
#include "sweep/selection.h"
#include "verdict/baseline.h"
#include "verdict/result.h"
#include "verdict/stored.h"

namespace ktune::gate {

/// `ktune gate --baseline FILE`: what the command line said.
struct StoredGateOptions {
  std::string baseline;         ///< the file
  std::string device = "auto";  ///< as sweep::device_facts resolved it
  sweep::Selection
      selection;      ///< which of the baseline's kernels, none named: all; --config says where an op's TOML is now
  std::string cache;  ///< "": the baseline's; another one is refused
  model::TimerRequest timer;  ///< auto: each kernel's own; another one is refused
  int processes = 9;          ///< a round
  double kernel_ms = 60.0;    ///< sampling of one kernel in one process
  int jobs = 0;               ///< compile processes, 0: one a core
  std::uint64_t seed = 1;     ///< of the orders in which kernels are timed
  bool update = false;        ///< append a passing run to the baseline
  bool pass_inconclusive = false;
  verdict::StoredRules rules;
  sweep::OpenProcesses open_processes = sweep::open_device_processes;
  model::Provenance provenance;
  Notices notices;
};

/// The mistakes that can be told before a device is opened: reads the file, throws Error(kUsage) or Error(kNoData).
void check_stored_gate(const StoredGateOptions& options);

/// A run, with what its rows do not say.
struct StoredRun {
  verdict::Result result;
  std::vector<verdict::BaselineKernel> kernels;      ///< a row each
  std::vector<verdict::StoredMeasurement> measured;  ///< a row each
};

/// Times the baseline's kernels beside their controls and judges them; notices say how it goes. Changes nothing.
/// Where a field of the key, the timer or the cache state differs, nothing is timed: the result is NO DATA with a note
/// that names it, and has no rows. Throws Error(kNoData) where no kernel is selected; Error(kUsage) for a file that
/// cannot be trusted or kernels of another tree than the current directory's; Error(kEnvironment), also for a kernel's
/// timer that is not to be had; Error(kInterrupted).
StoredRun measure_stored_gate(const StoredGateOptions& options, const model::DeviceFacts& facts);

/// The same; with `update` a passing run is then appended to the file, and notes say what started a new history.
/// `unkept`: why it could not be.
verdict::Result run_stored_gate(const StoredGateOptions& options, const model::DeviceFacts& facts,
                                std::optional<Error>& unkept);

/// Throws Error(kNoData) naming the field of the key that differs.
void check_key(const verdict::Baseline& baseline, const std::string& path, const verdict::BaselineKey& here);

/// What processes of a baseline's kernels are run with.
sweep::ProcessOptions process_options(const StoredGateOptions& options, const model::DeviceFacts& facts,
                                      model::CacheState cache_state);

/// Notes what code the kernels that changed were measured with.
void remember_code(verdict::Baseline& baseline, const std::vector<verdict::BaselineChange>& changes,
                   const StoredRun& run);

/// Tells what became of the baseline's kernels.
void tell_changes(const Notices& notices, const std::string& path, const std::vector<verdict::BaselineChange>& changes);

}  // namespace ktune::gate
