#include "sweep/check.h"

#include <gtest/gtest.h>

namespace ktune::sweep {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

model::TensorPlan tensor(const std::string& name, model::DType dtype) {
  model::TensorPlan plan;
  plan.name = name;
  plan.dtype = dtype;
  return plan;
}

TEST(OperandPairs, AreThoseOfOneDtypeThatSomeLaunchPassesOn) {
  model::ProblemPlan problem;
  problem.tensors = {tensor("a", model::DType::kF32), tensor("b", model::DType::kF32), tensor("i", model::DType::kI32),
                     tensor("y", model::DType::kF32), tensor("unused", model::DType::kF32)};
  std::vector<model::LaunchPlan> launches(2);
  const auto pass = [](model::LaunchPlan& launch, const std::string& name) {
    launch.args.push_back({model::ArgPlan::Kind::kTensor, name});
  };
  for (const char* name : {"a", "i", "partial"}) pass(launches[0], name);
  for (const char* name : {"partial", "y", "b"}) pass(launches[1], name);
  EXPECT_EQ(operand_pairs(problem, launches), (Pairs{{"a", "b"}, {"a", "y"}, {"b", "y"}}));
  launches.pop_back();
  EXPECT_EQ(operand_pairs(problem, launches), Pairs{}) << "i is of another dtype, partial is scratch";
}

}  // namespace
}  // namespace ktune::sweep
