#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/selection.h"
#include "gate/result.h"
#include "gate/stored.h"
#include "sweep/processes.h"

namespace ktune::cli {

/// `ktune gate --baseline FILE`: what the command line said.
struct StoredGateOptions {
  std::string baseline;  ///< the file
  std::string device = "auto";
  Selection selection;       ///< which of the baseline's kernels; nothing named: all. --config: where an op's TOML is now
  std::string cache;         ///< "": the baseline's; any other is refused
  std::string timer;         ///< "" or "auto": each kernel's; any other is refused
  int processes = 9;         ///< a round
  double kernel_ms = 60.0;   ///< sampling of one kernel in one process
  int jobs = 0;              ///< compile processes, 0: one a core
  std::uint64_t seed = 1;    ///< of the orders in which kernels are timed
  bool update = false;       ///< append a passing run to the baseline
  bool pass_inconclusive = false;
  gate::StoredRules rules;
};

/// A run with what is not in its rows.
struct StoredRun {
  gate::Result result;
  std::vector<gate::BaselineKernel> kernels;        ///< those that were selected, a row each
  std::vector<gate::StoredMeasurement> measured;  ///< one each
};

/// Times the baseline's kernels beside their controls and judges them; says on stderr how it goes. With `update` a
/// passing run is appended to the file. Throws Error(kNoData) where the key differs, naming the field, or nothing was
/// selected; Error(kUsage) for a file that cannot be trusted; Error(kEnvironment), Error(kInterrupted).
StoredRun measure_stored_gate(const StoredGateOptions& options);
gate::Result run_stored_gate(const StoredGateOptions& options);

/// The same checks of files and options before a device is opened.
void check_stored_gate(const StoredGateOptions& options);

/// Kernels and the controls they share, one process' worth: compiled once, timed together.
class ControlledKernels {
 public:
  /// One kernel and its control, both prepared; what points into it must outlive this.
  struct Item {
    sweep::KernelRequest kernel;
    sweep::KernelRequest control;
    std::string timer;  ///< "": decided here
  };
  /// Compiles; decides timers where asked for. A failure is the item's.
  ControlledKernels(const std::vector<Item>& items, const model::DeviceFacts& facts,
                    const sweep::ProcessOptions& options);

  /// Times `wanted` items in so many processes, each beside its control, and adds their figures to `into`, or to its
  /// `fresh`. An item that failed is left out from there on. Ctrl-C throws Error(kInterrupted).
  void time(const std::vector<std::size_t>& wanted, int processes, std::uint64_t seed, bool fresh);

  const std::vector<gate::StoredMeasurement>& measured() const { return measured_; }
  std::vector<gate::StoredMeasurement>& measured() { return measured_; }
  /// What the item was timed by; "" when it failed before.
  const std::string& timer(std::size_t item) const { return timers_[item]; }

 private:
  void compile(const std::vector<Item>& items, const model::DeviceFacts& facts);
  void decide(const std::vector<Item>& items, const model::DeviceFacts& facts);
  void pair_controls();

  sweep::ProcessOptions options_;
  std::vector<gate::StoredMeasurement> measured_;
  std::vector<std::string> timers_;
  std::vector<sweep::ReadyKernel> kernels_;   ///< of each item, unless it failed
  std::vector<sweep::ReadyKernel> controls_;  ///< of each item
  std::vector<std::size_t> shared_;           ///< the first item with the same control and timer
};

}  // namespace ktune::cli
