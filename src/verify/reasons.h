#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "model/plan.h"

// One clear line for each way an output can be wrong.

namespace ktune::verify {

/// The logical index of a storage element; nothing for an element that no index reaches (between rows, before the
/// offset). Coordinates of dimensions with stride 0 are 0.
std::optional<std::vector<std::int64_t>> coordinates(const model::TensorPlan& plan, std::int64_t storage_index);

/// "[3, 17]", or "storage element 40, which no index reaches".
std::string element_text(const model::TensorPlan& plan, std::int64_t storage_index);

/// Enough digits to tell two neighbouring values of the dtype apart.
std::string value_text(model::DType dtype, double value);

/// How many storage elements logical indices reach: the product of the sizes whose stride is not 0.
std::int64_t reached_elements(const model::TensorPlan& plan);

/// What stood at the first wrong element.
enum class FirstWrong : std::uint8_t {
  kDiffers,
  kUnwritten,  ///< still poison
  kStray,      ///< written where the reference writes nothing
};

/// "y: 12 of 4096 elements differ, first at [3, 17]: 0.5, expected 0.25 (40 times the tolerance)";
/// "y: 512 of 1024 elements never written, first at [512]".
std::string compare_text(const model::TensorPlan& plan, const device::CompareResult& result, FirstWrong first);

/// What a variant got wrong in its second run only, whose memory held other things: "in a second run, …: REASON".
std::string two_runs_text(const std::string& reason);
/// Two runs differ, and the spec does not allow it.
std::string nondeterministic_text(const std::string& varies);

}  // namespace ktune::verify
