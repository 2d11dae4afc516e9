#include "verify/plan_check.h"

#include <gtest/gtest.h>

#include "verify/test_device.h"

namespace ktune::verify {
namespace {

std::string wrong(const std::vector<model::TensorPlan>& tensors) {
  const model::Status status = check_tensors(tensors);
  return status ? "" : status.error().reason;
}

TEST(CheckTensors, AcceptsStridesOffsetsAndScalars) {
  model::TensorPlan rows = tensor("x", model::Role::kIn, {4, 8});
  rows.strides = {16, 1};
  rows.offset = 3;
  rows.storage = 3 + 3 * 16 + 8;
  model::TensorPlan expanded = tensor("w", model::Role::kIn, {4, 8});
  expanded.strides = {0, 1};
  expanded.storage = 8;
  EXPECT_EQ(wrong({rows, expanded, tensor("s", model::Role::kOut, {})}), "");
}

TEST(CheckTensors, SaysWhatContradictsItself) {
  const model::TensorPlan good = tensor("x", model::Role::kIn, {4, 8});
  model::TensorPlan bad = good;
  bad.strides = {1};
  EXPECT_EQ(wrong({bad}), "tensor x has 2 sizes and 1 strides");
  bad = good;
  bad.storage = 31;
  EXPECT_EQ(wrong({bad}), "tensor x has storage for 31 elements and reaches element 31");
  bad = good;
  bad.shape[0] = 0;
  EXPECT_EQ(wrong({bad}), "tensor x has a size of 0");
  bad = good;
  bad.strides[1] = -1;
  EXPECT_EQ(wrong({bad}), "tensor x has a stride of -1");
  bad = good;
  bad.offset = -1;
  EXPECT_EQ(wrong({bad}), "tensor x has the offset -1");
  bad = good;
  bad.strides[0] = std::int64_t{1} << 62;
  EXPECT_EQ(wrong({bad}), "tensor x is beyond any memory");
  EXPECT_EQ(wrong({good, good}), "tensor x is there twice");
}

}  // namespace
}  // namespace ktune::verify
