#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/facts.h"
#include "model/op_spec.h"
#include "sweep/sweep.h"

// What `ktune roofline` runs: each mix of reads and writes as an op that comes with ktune, on a ladder of sizes.

namespace ktune::probe {

/// One rung's op. A row a (mix, number of launches).
struct MixRow {
  std::string_view name;  ///< reads:writes
  int launches;
  std::string_view op;
  std::string_view attrs;      ///< "OUT=2 LAUNCHES=1", "" none
  std::int64_t row_elements;   ///< second dim of a matrix, 0 for a flat array
  std::int64_t element_bytes;  ///< bytes moved for each f32 element of the first operand
  std::string_view params;     ///< as --param takes them, with blanks between: about a dozen variants
};

std::span<const MixRow> roofline_mixes();

/// Total bytes of the ladder's rungs, ascending. 1, 4, 16, 64, 256, 1024 MiB and, where that is less, 8 × L2; quick:
/// 1, 16 and 256 MiB (and 8 × L2). Where the device is a host its memory is slow: up to 64 MiB there, quick 4.
std::vector<std::int64_t> roofline_ladder(const model::DeviceFacts& facts, bool quick);

/// One work item a mix, with every rung of the ladder, in f32.
std::vector<sweep::Work> roofline_work(const std::vector<std::int64_t>& ladder);

}  // namespace ktune::probe
