#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/comparison.h"
#include "sweep/kernel_processes.h"

namespace ktune::sweep {

/// Both versions of one kernel, and where what is measured of them goes.
struct KernelPair {
  const ReadyKernel* base = nullptr;
  const ReadyKernel* candidate = nullptr;
  model::Comparison* comparison = nullptr;
};

struct PairedOptions {
  int pairs = 8;
  std::uint64_t seed = 1;                                  ///< of the orders: which side comes first, which kernel
  bool fresh = false;                                      ///< the second round: into Comparison::fresh_pairs
  std::function<void(int done, int count)> progress = {};  ///< after each process
};

/// Times `pairs` pairs of processes, base and candidate in turn, ABBA BAAB …, so that a drift of the machine meets both
/// alike; every process times all kernels of its side. A kernel that fails in either says so in its Comparison and is
/// left out from there on. Ctrl-C throws Error(kInterrupted).
void time_pairs(std::span<const KernelPair> kernels, KernelProcesses& processes, const PairedOptions& options);

}  // namespace ktune::sweep
