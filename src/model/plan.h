#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/dtype.h"
#include "model/op_spec.h"

// A problem and a variant with every expression evaluated: what crosses the pipe to the worker. The worker knows no
// TOML and evaluates nothing.

namespace ktune::model {

struct TensorPlan {
  std::string name;
  Role role = Role::kIn;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< elements, ≥ 0
  std::int64_t offset = 0;            ///< elements from the (256-byte aligned) base
  std::int64_t storage = 0;           ///< elements from the base to the last one addressed, offset included
  InitSpec init;
  Tolerance tolerance;   ///< outputs only
  bool trivial = false;  ///< an output that a constant or a copy of an input may equal: that is the op's meaning

  std::int64_t storage_bytes() const { return storage * size_of(dtype); }
  static void fields(auto& self, auto&& field) {
    field("name", self.name);
    field("role", self.role);
    field("dtype", self.dtype);
    field("shape", self.shape);
    field("strides", self.strides);
    field("offset", self.offset);
    field("storage", self.storage);
    field("init", self.init);
    field("rtol", self.tolerance.rtol);
    field("atol", self.tolerance.atol);
    field("rms", self.tolerance.rms, {.may_miss = true});
    field("unit", self.tolerance.unit, {.may_miss = true});
    field("trivial", self.trivial, {.if_set = true});
  }
};

struct ArgPlan {
  enum class Kind : std::uint8_t { kTensor, kScalar, kInteger };
  Kind kind = Kind::kInteger;
  std::string tensor;         ///< kTensor: its name
  DType dtype = DType::kF32;  ///< kScalar: what to convert `real` to
  double real = 0.0;          ///< kScalar
  std::int64_t integer = 0;   ///< kInteger

  static void fields(auto& self, auto&& field) {
    field("kind", self.kind);  // read first: it says which follow
    if (self.kind == Kind::kTensor) field("tensor", self.tensor);
    if (self.kind == Kind::kScalar) field("dtype", self.dtype);
    if (self.kind == Kind::kScalar) field("real", self.real);
    if (self.kind == Kind::kInteger) field("integer", self.integer);
  }
};
std::string_view name_of(ArgPlan::Kind kind);  ///< "tensor", "scalar", "integer"
std::optional<ArgPlan::Kind> parse_as(ArgPlan::Kind, std::string_view name);

struct LaunchPlan {
  std::string kernel;
  std::vector<ArgPlan> args;
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::array<std::int64_t, 3> cluster{1, 1, 1};
  std::int64_t smem_bytes = 0;
  bool pdl = false;

  static void fields(auto& self, auto&& field) {
    field("kernel", self.kernel);
    field("args", self.args);
    field("grid", self.grid);
    field("block", self.block);
    field("cluster", self.cluster);
    field("smem_bytes", self.smem_bytes);
    field("pdl", self.pdl);
  }
};

/// What the worker needs to make inputs and the reference output of a problem.
struct ProblemPlan {
  std::string op;
  std::string problem;              ///< Problem::text()
  std::vector<TensorPlan> tensors;  ///< in, out, inout
  std::vector<LaunchPlan> reference;
  std::vector<TensorPlan> reference_scratch;
  std::uint64_t seed = 0;
  bool may_vary = false;       ///< two runs over the same inputs may differ
  double least_cold_us = 0.0;  ///< no call takes less from a cold cache; 0: not known

  static void fields(auto& self, auto&& field) {
    field("op", self.op);
    field("problem", self.problem);
    field("tensors", self.tensors);
    field("reference", self.reference);
    field("reference_scratch", self.reference_scratch);
    field("seed", self.seed);
    field("may_vary", self.may_vary, {.if_set = true});
    field("least_cold_us", self.least_cold_us);
  }
};

struct VariantPlan {
  std::string variant;  ///< Variant::text()
  std::vector<TensorPlan> scratch;
  std::vector<LaunchPlan> launches;

  static void fields(auto& self, auto&& field) {
    field("variant", self.variant);
    field("scratch", self.scratch);
    field("launches", self.launches);
  }
};

/// Least traffic of a problem.
struct Cost {
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::int64_t scratch_bytes = 0;
  std::int64_t flops = 0;
  int launches = 0;  ///< the fewest that any variant needs; 0: not known (a database of before)
  std::int64_t bytes() const { return bytes_read + bytes_written; }
  static void fields(auto& self, auto&& field) {
    field("bytes_read", self.bytes_read);
    field("bytes_written", self.bytes_written);
    field("scratch_bytes", self.scratch_bytes);
    field("flops", self.flops);
    field("launches", self.launches);
  }
};

using Macros = std::vector<std::pair<std::string, std::string>>;

}  // namespace ktune::model
