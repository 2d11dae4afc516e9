#pragma once

#include <cstdint>

#include "device/device.h"
#include "model/dtype.h"
#include "model/plan.h"

// What Device asks of memory, done on host memory: the CPU and the fake device are these functions, and a GPU's kernels
// have the same meaning (kernels/include/ktune_random.cuh holds the numbers both use).

namespace ktune::device {

/// What storage that no logical index reaches holds after initialise: every floating type reads it as NaN, so that a
/// kernel that reads between rows is found out; integers read −1.
inline constexpr std::uint32_t kGapPattern = 0xffffffffu;
/// CompareResult::worst_margin is capped here: the tolerance is zero and the values differ.
inline constexpr double kHugeMargin = 1e30;

/// Fills `plan.storage` elements from `base` as plan.init says: element (i₀, …) goes to offset + Σ iₖ·strideₖ and takes
/// the value of its logical row-major index, rounded once to the dtype (integers: to nearest, clamped, NaN to 0).
/// Where a stride is 0 the coordinate counts as 0, so that elements that share an address agree on its value.
/// Everything else gets kGapPattern.
void host_initialise(void* base, const model::TensorPlan& plan, std::uint64_t seed);

/// Byte i takes byte i mod 4 of the pattern (little-endian).
void host_poison(void* pointer, std::int64_t bytes, std::uint32_t pattern);

/// Index of the first byte that differs from the repeated pattern; −1: none.
std::int64_t host_first_changed(const void* pointer, std::int64_t bytes, std::uint32_t pattern);

/// Bytes of an output that a device which waits for each sample compares after it.
inline constexpr std::int64_t kHostCheckedBytes = std::int64_t{256} << 10;

/// Compares `share` of the `plan.storage` elements. An element is poison when its bytes are its side's pattern at that
/// place. Poison in both: skipped, where it may stay. The same bytes in both: right. Poison in one only: `unwritten`.
/// Else it is a mismatch unless both are NaN, or equal (infinities too), or both finite with |out − ref| ≤ atol +
/// rtol·|ref| of plan.tolerance.
CompareResult host_compare(const void* out, const void* reference, const model::TensorPlan& plan, Poison poison,
                           Share share = {});

/// ktune_random::checksum_term summed over the 32-bit words, plus mix(bytes).
std::uint64_t host_checksum(const void* pointer, std::int64_t bytes);

/// One element as f64 (i64 beyond 2^53 rounds), and a value rounded to nearest even into one element.
double load_element(model::DType dtype, const void* at);
void store_element(model::DType dtype, void* at, double value);

}  // namespace ktune::device
