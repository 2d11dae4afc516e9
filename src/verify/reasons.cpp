#include "verify/reasons.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ktune::verify {

std::optional<std::vector<std::int64_t>> coordinates(const model::TensorPlan& plan, std::int64_t storage_index) {
  std::vector<std::size_t> order(plan.shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&plan](std::size_t a, std::size_t b) { return plan.strides[a] > plan.strides[b]; });
  std::int64_t left = storage_index - plan.offset;
  if (left < 0) return std::nullopt;
  std::vector<std::int64_t> index(plan.shape.size(), 0);
  for (const std::size_t dim : order) {
    if (plan.strides[dim] == 0 || plan.shape[dim] <= 1) continue;
    index[dim] = std::min(left / plan.strides[dim], plan.shape[dim] - 1);
    left -= index[dim] * plan.strides[dim];
  }
  if (left != 0) return std::nullopt;
  return index;
}

std::string element_text(const model::TensorPlan& plan, std::int64_t storage_index) {
  const std::optional<std::vector<std::int64_t>> index = coordinates(plan, storage_index);
  if (!index) return fmt::format("storage element {}, which no index reaches", storage_index);
  return fmt::format("[{}]", fmt::join(*index, ", "));
}

std::string value_text(model::DType dtype, double value) {
  switch (dtype) {
    case model::DType::kF16:
    case model::DType::kBf16:
      return fmt::format("{:.5g}", value);
    case model::DType::kF32:
      return fmt::format("{:.9g}", value);
    case model::DType::kF64:
      return fmt::format("{:.17g}", value);
    default:
      return fmt::format("{:.0f}", value);
  }
}

std::int64_t reached_elements(const model::TensorPlan& plan) {
  std::int64_t elements = 1;
  for (std::size_t dim = 0; dim < plan.shape.size(); ++dim) {
    if (plan.strides[dim] != 0) elements *= plan.shape[dim];
  }
  return elements;
}

namespace {

/// "0.5, expected 0.25 (40 times the tolerance)".
std::string difference_text(const model::TensorPlan& plan, const device::CompareResult& result) {
  const std::string values = fmt::format("{}, expected {}", value_text(plan.dtype, result.first_out),
                                         value_text(plan.dtype, result.first_ref));
  // A margin within 1 belongs to the elements that passed: the wrong ones are NaN, infinite or unwritten.
  if (result.worst_margin <= 1.0 || plan.tolerance.rtol + plan.tolerance.atol == 0.0) return values;
  return fmt::format("{} (at worst {:.3g} times the tolerance)", values, result.worst_margin);
}

}  // namespace

std::string compare_text(const model::TensorPlan& plan, const device::CompareResult& result, FirstWrong first) {
  if (result.mismatches == 0 && result.unwritten == 0) {
    return fmt::format(
        "{}: the errors of its {} elements are too large together: their root mean square is {:.2g} times "
        "the tolerance, at most {:.2g} is right",
        plan.name, result.elements, result.rms_margin, device::most_rms_margin(plan.tolerance, result.elements));
  }
  const std::string where = element_text(plan, result.first);
  if (first == FirstWrong::kStray && result.mismatches == 0) {
    return fmt::format("{}: {} element{} written that the reference leaves alone, first {}", plan.name,
                       result.unwritten, result.unwritten == 1 ? "" : "s", where);
  }
  std::string text = fmt::format("{}: ", plan.name);
  if (result.unwritten > 0) text += fmt::format("{} of {} elements never written", result.unwritten, result.elements);
  if (result.unwritten > 0 && result.mismatches > 0) text += fmt::format(" and {} differ", result.mismatches);
  if (result.unwritten == 0) text += fmt::format("{} of {} elements differ", result.mismatches, result.elements);
  text += fmt::format(", first at {}", where);
  return first == FirstWrong::kDiffers ? fmt::format("{}: {}", text, difference_text(plan, result)) : text;
}

std::string two_runs_text(const std::string& reason) {
  return "right in one run, wrong in the next: it keeps something from launch to launch, or reads memory that it must "
         "not (an output that it reads is role = \"inout\"): " +
         reason;
}

std::string nondeterministic_text(const std::string& varies) {
  return fmt::format(
      "nondeterministic: two runs over the same inputs differ in {}; `nondeterministic = true` under "
      "[verify] allows it",
      varies);
}

}  // namespace ktune::verify
