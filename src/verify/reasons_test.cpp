#include "verify/reasons.h"

#include <gtest/gtest.h>

#include "verify/test_device.h"

namespace ktune::verify {
namespace {

using model::DType;
using model::Role;

TEST(Coordinates, FollowStridesAndOffset) {
  model::TensorPlan plan = tensor("y", Role::kOut, {4, 3});
  plan.strides = {10, 2};
  plan.offset = 5;
  EXPECT_EQ(coordinates(plan, 5), (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(coordinates(plan, 5 + 2 * 10 + 2 * 2), (std::vector<std::int64_t>{2, 2}));
  EXPECT_FALSE(coordinates(plan, 4).has_value());
  EXPECT_FALSE(coordinates(plan, 6).has_value());
  EXPECT_FALSE(coordinates(plan, 5 + 6).has_value()) << "past the row's end";
}

TEST(Coordinates, SortDimensionsByStrideAndSkipThoseOfStrideZero) {
  model::TensorPlan plan = tensor("y", Role::kOut, {3, 4, 5});
  plan.strides = {1, 0, 3};
  EXPECT_EQ(coordinates(plan, 3 * 4 + 2), (std::vector<std::int64_t>{2, 0, 4}));
  EXPECT_EQ(reached_elements(plan), 15);
}

TEST(Reasons, GiveEnoughDigitsForTheDtype) {
  EXPECT_EQ(value_text(DType::kBf16, 0.333984375), "0.33398");
  EXPECT_EQ(value_text(DType::kF32, 0.1f), "0.100000001");
  EXPECT_EQ(value_text(DType::kF64, 0.1), "0.10000000000000001");
  EXPECT_EQ(value_text(DType::kI64, -7.0), "-7");
}

TEST(Reasons, AreOneLineEach) {
  const model::TensorPlan plan = tensor("y", Role::kOut, {64, 64});
  device::CompareResult result;
  result.elements = 4096;
  result.mismatches = 12;
  result.first = 3 * 64 + 17;
  result.first_out = 0.5;
  result.first_ref = 0.25;
  result.worst_margin = 40.0;
  EXPECT_EQ(compare_text(plan, result, FirstWrong::kDiffers),
            "y: 12 of 4096 elements differ, first at [3, 17]: 0.5, expected 0.25 (at worst 40 times the tolerance)");
  result.worst_margin = 0.5;  // the wrong ones are not finite
  EXPECT_EQ(compare_text(plan, result, FirstWrong::kDiffers),
            "y: 12 of 4096 elements differ, first at [3, 17]: 0.5, expected 0.25");
  result.unwritten = 100;
  EXPECT_EQ(compare_text(plan, result, FirstWrong::kUnwritten),
            "y: 100 of 4096 elements never written and 12 differ, first at [3, 17]");
  result.mismatches = 0;
  EXPECT_EQ(compare_text(plan, result, FirstWrong::kUnwritten),
            "y: 100 of 4096 elements never written, first at [3, 17]");
}

}  // namespace
}  // namespace ktune::verify
