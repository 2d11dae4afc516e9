#pragma once

#include <cstdint>
#include <string>

#include "model/plan.h"

// Plans with every field set, for the tests of their JSON.

namespace ktune::model {

inline TensorPlan tensor_for_test() {
  TensorPlan plan;
  plan.name = std::string("x");  // GCC 12 warns wrongly of a plain literal here (its bug 105651)
  plan.role = Role::kInOut;
  plan.dtype = DType::kBf16;
  plan.shape = {4, 512};
  plan.strides = {600, 1};
  plan.offset = 3;
  plan.storage = 2315;
  plan.init = {InitKind::kRandint, -5, 5};
  plan.tolerance = {0.25, 0.125};
  return plan;
}

inline ArgPlan argument_for_test(ArgPlan::Kind kind) {
  ArgPlan plan;
  plan.kind = kind;
  plan.tensor = "x";
  plan.dtype = DType::kF64;
  plan.real = 1e-6;
  plan.integer = std::int64_t{1} << 40;
  return plan;
}

inline LaunchPlan launch_for_test() {
  LaunchPlan plan;
  plan.kernel = "rmsnorm";
  plan.args = {argument_for_test(ArgPlan::Kind::kTensor), argument_for_test(ArgPlan::Kind::kScalar),
               argument_for_test(ArgPlan::Kind::kInteger)};
  plan.grid = {132, 2, 3};
  plan.block = {128, 4, 5};
  plan.cluster = {2, 6, 7};
  plan.smem_bytes = 49152;
  plan.pdl = true;
  return plan;
}

}  // namespace ktune::model
