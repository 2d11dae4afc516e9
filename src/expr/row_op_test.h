#pragma once

#include <gtest/gtest.h>

#include "base/error.h"
#include "expr/resolve.h"

// A small op for tests of what is resolved, its problem and a device.

namespace ktune::expr {

using model::DType;
using model::Role;

inline model::Expression ex(std::string text) { return {std::move(text), {}}; }
inline std::vector<model::Expression> exs(std::initializer_list<const char*> texts) {
  std::vector<model::Expression> result;
  for (const char* text : texts) result.push_back(ex(text));
  return result;
}

inline model::TensorSpec tensor(std::string name, Role role, std::initializer_list<const char*> shape,
                                std::initializer_list<const char*> strides, std::string type) {
  model::TensorSpec spec;
  spec.name = std::move(name);
  spec.role = role;
  spec.shape = exs(shape);
  spec.strides = exs(strides);
  spec.type = std::move(type);
  return spec;
}

inline model::Parameter parameter(std::string name, std::vector<model::Value> values) {
  model::Parameter result;
  result.name = std::move(name);
  result.values = std::move(values);
  return result;
}

inline model::LaunchSpec launch(std::string kernel, std::initializer_list<const char*> args, const char* grid,
                                const char* block, const char* smem) {
  model::LaunchSpec spec;
  spec.kernel = std::move(kernel);
  spec.args = exs(args);
  spec.grid = exs({grid});
  spec.block = exs({block});
  spec.smem = ex(smem);
  return spec;
}

/// A row op in two launches, with everything a spec can have.
inline model::OpSpec row_op() {
  model::OpSpec spec;
  spec.name = "rowop";
  spec.dims = {"M", "N"};
  spec.key = {"N"};
  spec.static_dims = {"N"};
  spec.types = {{"scalar_t", {"f32", "bf16"}}, {"weight_t", {"scalar_t", "f32"}}};
  spec.attrs = {{"mode", {{1, "llama"}, {2, "gemma"}}, {1, "llama"}}};
  spec.tensors = {
      tensor("x", Role::kIn, {"M", "N"}, {"N", "1"}, "scalar_t"), tensor("w", Role::kIn, {"N"}, {"1"}, "weight_t"),
      tensor("y", Role::kOut, {"M", "N"}, {"N", "1"}, "scalar_t"), tensor("rstd", Role::kOut, {"M"}, {"1"}, "f32"),
      tensor("partial", Role::kScratch, {"cdiv(M, ROWS)", "N"}, {"N", "1"}, "f32")};
  spec.scalars = {{"eps", DType::kF32, 1e-6}};
  spec.params = {parameter("BLOCK_SIZE", {{256, ""}, {512, ""}, {1024, ""}}), parameter("ROWS", {{1, ""}, {4, ""}}),
                 parameter("LOADER", {{3, "ldg"}, {4, "bulk"}}), parameter("STAGES", {{2, ""}, {3, ""}})};
  spec.params[3].when = ex("LOADER != ldg");
  spec.params[3].otherwise = {1, ""};
  spec.constraints = {{ex("ROWS == 1 || BLOCK_SIZE <= 512"), "many rows need a narrow block"}};
  spec.defaults = {{"BLOCK_SIZE", ex("clamp(next_pow2(N), 256, 1024)")},
                   {"ROWS", ex("STAGES > 1 ? 4 : 1")},
                   {"LOADER", ex("mode == gemma ? bulk : ldg")},
                   {"STAGES", ex("2")}};
  spec.launches = {
      launch("rowop", {"x", "w", "y", "rstd", "partial", "M", "N * 2", "eps"}, "cdiv(M, ROWS)", "64", "ROWS * 128"),
      launch("finish", {"partial", "y"}, "1", "32", "0")};
  spec.launches[1].when = ex("ROWS > 1");
  spec.reference = {launch("rowop_reference", {"x", "w", "y", "rstd", "M", "N", "eps"}, "M", "1", "0")};
  spec.verify.reduction = ex("N");
  spec.verify.tolerances = {{"rstd", {1e-5, 1e-6}}};
  spec.cost = {ex("M*N*sizeof_scalar_t + N*sizeof_weight_t"), ex("M*N*sizeof_scalar_t + 4*M"), ex("0"), ex("2*M*N")};
  return spec;
}

inline model::Problem row_problem() {
  model::Problem problem;
  problem.op = "rowop";
  problem.dims = {{"M", 16}, {"N", 1000}};
  problem.types = {{"scalar_t", "bf16"}, {"weight_t", "f32"}};
  problem.attrs = {{"mode", {1, "llama"}}};
  return problem;
}

inline model::DeviceFacts h200() {
  model::DeviceFacts facts;
  facts.sm = 90;
  facts.sm_count = 132;
  facts.l2_bytes = 62914560;
  facts.smem_optin = 232448;
  facts.max_threads = 1024;
  facts.registers_per_sm = 65536;
  facts.memory_bytes = 150'000'000'000;
  return facts;
}

inline model::Variant variant(std::int64_t rows) {
  return {{{"BLOCK_SIZE", {512, ""}}, {"ROWS", {rows, ""}}, {"LOADER", {3, "ldg"}}, {"STAGES", {1, ""}}}};
}

template <typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.message();
  }
  return "no error";
}

inline std::int64_t bound(const Scope& scope, const char* name) {
  const std::int64_t* value = scope.find(name);
  return value == nullptr ? -999 : *value;
}

}  // namespace ktune::expr
