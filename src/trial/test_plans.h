#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/plan.h"

// Plans for tests: out[i] = f(x[i]) over n floats, by a kernel of that signature.

namespace ktune::trial {

inline model::TensorPlan vector_plan(const std::string& name, model::Role role, std::int64_t n) {
  model::TensorPlan plan;
  plan.name = name;
  plan.role = role;
  plan.shape = {n};
  plan.strides = {1};
  plan.storage = n;
  plan.tolerance = {1e-5, 1e-5};
  return plan;
}

inline model::LaunchPlan vector_launch(const std::string& kernel, const std::vector<std::string>& tensors,
                                       std::int64_t n, std::int64_t block) {
  model::LaunchPlan plan;
  plan.kernel = kernel;
  for (const std::string& tensor : tensors) {
    model::ArgPlan arg;
    arg.kind = model::ArgPlan::Kind::kTensor;
    arg.tensor = tensor;
    plan.args.push_back(arg);
  }
  model::ArgPlan size;
  size.integer = n;
  plan.args.push_back(size);
  plan.grid = {(n + block - 1) / block, 1, 1};
  plan.block = {block, 1, 1};
  return plan;
}

inline model::ProblemPlan vector_problem(const std::string& op, std::int64_t n,
                                         const std::vector<std::string>& inputs = {"x"}) {
  model::ProblemPlan plan;
  plan.op = op;
  plan.problem = "n=" + std::to_string(n);
  plan.seed = 5;
  std::vector<std::string> tensors = inputs;
  for (const std::string& name : inputs) plan.tensors.push_back(vector_plan(name, model::Role::kIn, n));
  plan.tensors.push_back(vector_plan("out", model::Role::kOut, n));
  plan.tensors.back().trivial = true;  // some of the ops copy
  tensors.push_back("out");
  plan.reference = {vector_launch(op + "_reference", tensors, n, 128)};
  return plan;
}

inline model::VariantPlan vector_variant(const std::string& op, const std::string& variant, std::int64_t n,
                                         const std::vector<std::string>& inputs = {"x"}, std::int64_t block = 128) {
  model::VariantPlan plan;
  plan.variant = variant;
  std::vector<std::string> tensors = inputs;
  tensors.push_back("out");
  plan.launches = {vector_launch(op, tensors, n, block)};
  return plan;
}

}  // namespace ktune::trial
