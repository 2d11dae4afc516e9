#pragma once

#include <cstdint>
#include <vector>

#include "model/timing.h"

namespace ktune::device::cpu {

/// Puts the host's caches into a state by sweeping twice the last-level cache, 64 MiB at most. Memory is taken at the
/// first use.
class CacheFlush {
 public:
  explicit CacheFlush(std::int64_t cache_bytes);
  /// cold: the sweep reads (lines left clean); dirty: it writes; warm: nothing.
  void prepare(model::CacheState state);

 private:
  std::int64_t bytes_;
  std::vector<std::uint64_t> words_;
};

}  // namespace ktune::device::cpu
