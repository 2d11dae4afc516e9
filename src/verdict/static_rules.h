#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/outcome.h"
#include "model/sass.h"
#include "verdict/result.h"

// The static gate's rules: what the compiler made of two versions of a kernel, compared without running either.

namespace ktune::verdict {

/// One kernel as it is compiled and launched.
struct StaticKernel {
  std::string name;
  model::KernelResources resources;
  std::int64_t dynamic_shared_bytes = 0;
  int threads = 1;  ///< per block
  model::SassCounts sass;
};

/// One version of an op's variant: its kernels in the order of their launches.
struct StaticSide {
  std::string code_hash;  ///< "" where it is not known
  std::vector<StaticKernel> kernels;
};

struct StaticRules {
  double max_instructions_pct = 10.0;  ///< more than this many percent more instructions is a regression
};

/// What a multiprocessor has.
struct Multiprocessor {
  int sm = 0;  ///< compute capability × 10
  int threads = 0;
  int blocks = 0;
  std::int64_t shared_bytes = 0;
};
/// Of a compute capability that the gate knows: 80, 90, 100, 120. Each has 65,536 registers.
std::optional<Multiprocessor> multiprocessor_of(int sm);

/// How many blocks fit a multiprocessor at once: by registers (given to warps 256 at a time, a quarter of them to each
/// of four partitions), shared memory (128 bytes at a time, 1 KiB a block more for the driver), threads and blocks.
/// As cuda_occupancy.h computes it. 0: not even one.
int blocks_that_fit(const Multiprocessor& multiprocessor, int registers, std::int64_t shared_bytes, int threads);

struct StaticJudgement {
  Verdict verdict = Verdict::kNoData;
  std::string reason;
  bool identical = false;
  std::vector<Change> changes;
};

/// REGRESSED when registers spill that did not or more than they did; when registers or shared memory grow so that
/// fewer threads fit a multiprocessor; when a block that is launched in another way fits none; when global memory
/// accesses narrow (fewer are as wide as base's widest, up to 128 bits, and more are narrower, or none is as wide any
/// more); when there are more instructions than the rules let by (the reason says so where accesses widened at once).
/// Else PASS, and the reason says what changed.
StaticJudgement judge_static(const StaticSide& base, const StaticSide& candidate, const Multiprocessor& multiprocessor,
                             const StaticRules& rules);

}  // namespace ktune::verdict
