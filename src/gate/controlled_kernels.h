#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/notices.h"
#include "sweep/kernel_processes.h"
#include "verdict/stored.h"

namespace ktune::gate {

/// A kernel of the stored gate and its control.
struct ControlledItem {
  sweep::KernelRequest kernel;
  sweep::KernelRequest control;
  std::optional<model::Timer> timer;           ///< nothing: ControlledKernels decides
  std::string missing;                         ///< why the tree does not have it: then there are no requests
  std::optional<model::Failure> failure = {};  ///< its spec cannot be read: no requests either
  std::string tree_commit;                     ///< of the tree that its sources are in; "" where no git knows them
};

/// Kernels and the controls they share: compiled once, timed together in one process after another.
class ControlledKernels {
 public:
  /// Compiles, and decides timers where asked for. A failure is the item's, and so is its control's.
  ControlledKernels(const std::vector<ControlledItem>& items, sweep::KernelProcesses& processes,
                    const Notices& notices);

  /// One round: so many processes, each with all `wanted` items and their controls, into their `processes` or `fresh`.
  /// An item that failed is left out from there on. Notices tell which process runs. Ctrl-C throws
  /// Error(kInterrupted).
  void time(const std::vector<std::size_t>& wanted, int processes, std::uint64_t seed, bool fresh);

  /// One an item.
  const std::vector<verdict::StoredMeasurement>& measured() const { return measured_; }
  /// What the item is timed by; nothing when it failed before that was known.
  std::optional<model::Timer> timer(std::size_t item) const { return kernels_[item].timer; }

 private:
  void compile(const std::vector<ControlledItem>& items);
  void decide_timers(const std::vector<ControlledItem>& items);
  bool usable(std::size_t item) const;
  void fail(std::size_t item, const model::Failure& failure, const std::string& whose);

  sweep::KernelProcesses& processes_;
  const Notices& notices_;
  std::vector<verdict::StoredMeasurement> measured_;
  std::vector<sweep::ReadyKernel> kernels_;   ///< of each item, unless it failed
  std::vector<sweep::ReadyKernel> controls_;  ///< the distinct ones
  std::vector<std::size_t> control_of_;       ///< each item's place in controls_
};

}  // namespace ktune::gate
