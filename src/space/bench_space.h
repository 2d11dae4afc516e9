#pragma once

#include "expr/expr.h"
#include "model/op_spec.h"

namespace ktune::space {

/// The space of the enumeration figure: ten axes whose raw product passes 10^8, ten constraints, about 20,000 valid
/// points. Shaped as a wide-row kernel's: most constraints tie two or three axes, the last needs most of them.
inline model::OpSpec bench_space() {
  model::OpSpec spec;
  spec.name = "bench";
  const auto add = [&](const char* name, std::initializer_list<std::int64_t> numbers) {
    model::Parameter& parameter = spec.params.emplace_back();
    parameter.name = name;
    for (const std::int64_t number : numbers) parameter.values.push_back({number, ""});
  };
  add("BLOCK_SIZE", {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768});
  add("num_warps", {1, 2, 4, 8, 16, 32});
  add("ROWS", {1, 2, 4, 8, 16, 32});
  add("VEC_BYTES", {2, 4, 8, 16});
  add("UNROLL", {1, 2, 4, 8});
  add("CLUSTER", {1, 2, 4, 8, 16});
  add("STAGES", {1, 2, 3, 4, 5, 6});
  add("GRID", {0, 1, 2, 4, 8, 16, 32, 64});
  add("HINT_LD", {0, 1, 2, 3, 4});
  add("HINT_ST", {0, 1, 2, 3});
  add("MIN_BLOCKS", {0, 1, 2, 4});
  const auto require = [&](const char* expression) {
    spec.constraints.push_back({{expression, {}}, "rule " + std::to_string(spec.constraints.size() + 1)});
  };
  require("BLOCK_SIZE >= 32 * num_warps");
  require("ROWS <= 32 * num_warps && (ROWS == 1 || num_warps <= 8)");
  require("BLOCK_SIZE * ROWS * 2 >= 32 * num_warps * VEC_BYTES");
  require("CLUSTER == 1 || (ROWS == 1 && N % CLUSTER == 0 && N / CLUSTER >= 4096)");
  require("BLOCK_SIZE * CLUSTER >= N || (UNROLL >= 4 && CLUSTER == 1)");
  require("STAGES == 1 || (GRID > 0 && ROWS * BLOCK_SIZE * 2 * STAGES <= smem_optin)");
  require("GRID == 0 || (GRID % CLUSTER == 0 && STAGES > 1)");
  require("cdiv(BLOCK_SIZE * ROWS * 2, 32 * num_warps * VEC_BYTES) * UNROLL * VEC_BYTES <= 256");
  require("HINT_ST <= HINT_LD && (HINT_LD == 0 || VEC_BYTES == 16)");
  require(
      "32 * num_warps * UNROLL * VEC_BYTES * max(1, MIN_BLOCKS) >= 131072 && (MIN_BLOCKS == 0 || GRID == 0 || GRID >= "
      "MIN_BLOCKS)");
  return spec;
}

inline expr::Scope bench_scope() {
  expr::Scope scope;
  scope.set("N", 16384);
  scope.set("smem_optin", 232448);
  return scope;
}

}  // namespace ktune::space
