#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/dtype.h"

// What a `.toml` says, as plain values. Expressions stay text with their position: `expr` evaluates them, once the
// names they use are bound by a problem, a device and a variant.

namespace ktune::model {

struct SourcePos {
  std::string file;
  int line = 0;    ///< from 1; 0: no position (a value from the command line)
  int column = 0;  ///< from 1
};

/// Integer arithmetic over dims, parameters, attributes, constants and lets (expr/expr.h).
struct Expression {
  std::string text;
  SourcePos at;
};

/// A named expression: [let]. Other expressions use it like a name.
struct Let {
  std::string name;
  Expression expr;
};

/// A parameter's or attribute's value: an integer, or a name that stands for an integer constant.
struct Value {
  std::int64_t number = 0;
  std::string name;  ///< empty for a plain integer; else the enumerated name, whose constant is `number`

  std::string text() const { return name.empty() ? std::to_string(number) : name; }
  friend bool operator==(const Value&, const Value&) = default;
};

/// A type macro and the dtypes it may take; a value may also name an earlier TypeParam ("the same as scalar_t").
struct TypeParam {
  std::string name;
  std::vector<std::string> values;
};

/// Part of the problem, not tuned. Macro ATTR is its number; macros ATTR_<name> give the constants.
struct Attribute {
  std::string name;
  std::vector<Value> values;
  Value default_value;
};

enum class Role : std::uint8_t { kIn, kOut, kInOut, kScratch };
std::string_view name_of(Role role);  ///< "in", "out", "inout", "scratch"
std::optional<Role> parse_as(Role, std::string_view name);

enum class InitKind : std::uint8_t { kNormal, kUniform, kZeros, kOnes, kConstant, kRandint, kZeroRow, kSpecial };
std::string_view name_of(InitKind kind);  ///< "normal", "zero_row", …
std::optional<InitKind> parse_init_kind(std::string_view name);
inline std::optional<InitKind> parse_as(InitKind, std::string_view name) { return parse_init_kind(name); }

/// How an input is filled, from a stored seed. normal: N(a, b²), default (0, 1); uniform: [a, b), default [0, 1);
/// constant: a; randint: integers in [a, b); zero_row: normal with every third row zero; special: normal with NaN,
/// ±inf and ±0 sprinkled in (about one element in 97).
struct InitSpec {
  InitKind kind = InitKind::kNormal;
  double a = 0.0;
  double b = 1.0;

  /// As a spec writes it: "normal", "uniform(-1,1)", "randint(0,100)".
  std::string text() const;
  static void fields(auto& self, auto&& field) {
    field("kind", self.kind);
    field("a", self.a);
    field("b", self.b);
  }
};

struct TensorSpec {
  std::string name;
  Role role = Role::kIn;
  std::vector<Expression> shape;
  std::vector<Expression> strides;  ///< elements; filled with the contiguous ones when the spec gives none
  std::string type;                 ///< a dtype name or a TypeParam's name
  InitSpec init;
  SourcePos at;
};

struct ScalarSpec {
  std::string name;
  DType type = DType::kF32;
  double value = 0.0;
};

struct Parameter {
  std::string name;
  std::vector<Value> values;
  std::optional<Expression> when;  ///< elsewhere the parameter has the one canonical value `otherwise`
  Value otherwise;
  SourcePos at;
  std::vector<Value> listed{};  ///< every value the spec lists, when `values` was narrowed; empty: `values` is complete

  /// Every value the spec lists: what a name may stand for, what a kernel gets macros for, what a default may be.
  const std::vector<Value>& all_values() const { return listed.empty() ? values : listed; }
};

struct Constraint {
  Expression expr;
  std::string why;
};

struct LaunchSpec {
  std::string kernel;
  /// Each the name of a tensor (passed as a pointer), of a scalar, or an integer expression (passed as a 64-bit
  /// integer; a kernel may declare `int` for it, since the machine is little-endian and the value fits).
  std::vector<Expression> args;
  std::vector<Expression> grid;     ///< 1 to 3
  std::vector<Expression> block;    ///< 1 to 3
  std::vector<Expression> cluster;  ///< 0 to 3
  Expression smem;                  ///< dynamic shared memory, bytes
  std::optional<Expression> when;
  bool pdl = false;
};

/// Accepted difference of one output: |out − ref| ≤ atol + rtol·|ref|.
/// Accepted difference of an output: each element |out − ref| ≤ atol + rtol·|ref|, and the root mean square of
/// |out − ref| / (atol + rtol·|ref|) at most `rms`.
struct Tolerance {
  double rtol = 0.0;
  double atol = 0.0;
  double rms = 1.0;   ///< 1: no more than what each element is held to
  double unit = 0.0;  ///< atol is that of outputs of this root mean square, and scales with theirs; 0: it is absolute
};

struct VerifySpec {
  Expression reduction;           ///< how many terms the longest sum has; "1" for element-wise ops
  std::vector<std::string> sums;  ///< outputs that are such sums themselves: near zero their terms cancelled
  std::vector<std::pair<std::string, Tolerance>> tolerances;  ///< by tensor name: overrides the derived one
  std::vector<std::string> trivial;  ///< outputs that a constant or a copy of an input may equal
  bool nondeterministic = false;     ///< two runs over the same inputs may differ (atomic sums)
};

struct CostSpec {
  Expression reads;    ///< bytes read at the least: each operand once
  Expression writes;   ///< bytes written at the least
  Expression scratch;  ///< bytes of scratch traffic, counted apart; "0" when absent
  Expression flops;    ///< "0" when absent
};

/// A problem as a spec or the command line gives it; names are checked against the op when it is made.
struct Problem {
  std::string op;
  std::vector<std::pair<std::string, std::int64_t>> dims;  ///< in the op's order
  std::vector<std::pair<std::string, std::string>> types;  ///< type macro → dtype name, in the op's order, resolved
  std::vector<std::pair<std::string, Value>> attrs;        ///< in the op's order, complete
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> strides;  ///< by tensor: overrides
  std::vector<std::pair<std::string, std::int64_t>> offsets;               ///< by tensor: elements
  std::vector<std::pair<std::string, double>> scalars;                     ///< overrides
  std::vector<std::pair<std::string, InitSpec>> inits;                     ///< by tensor: overrides
  double weight = 1.0;

  /// "M=4096 N=4096 bf16 cast_mode=llama": dims, the first type, types that differ from it ("weight_t=f32"), every
  /// attribute, then overrides by name ("x:strides=5000,1 x:offset=1 eps=0.001 x:init=zero_row"). Unique for one op:
  /// the database's key for a problem. The weight is no part of it.
  std::string text() const;
  /// The first type's dtype, "bf16"; "-" for an op without types.
  std::string dtype() const;
  /// Overrides are rare, and the JSON is stored with every problem.
  static void fields(auto& self, auto&& field) {
    field("op", self.op);
    field("dims", self.dims, {.as_object = true});
    field("types", self.types, {.as_object = true});
    field("attrs", self.attrs, {.as_object = true});
    field("strides", self.strides, {.if_set = true, .as_object = true});
    field("offsets", self.offsets, {.if_set = true, .as_object = true});
    field("scalars", self.scalars, {.if_set = true, .as_object = true});
    field("inits", self.inits, {.if_set = true, .as_object = true});
    field("weight", self.weight);
  }
};

struct ProblemSpec {
  std::vector<std::string> use;  ///< sweep, verify, cpu, bench
  Problem problem;
  bool has_types = false;  ///< false: it stands for every dtype the op offers
  SourcePos at;
};

struct OpSpec {
  std::string name;
  std::string summary;
  std::string spec_path;    ///< absolute
  std::string source_path;  ///< absolute
  std::vector<std::string> dims;
  std::vector<std::string> key;
  std::vector<std::string> static_dims;   ///< [compile] static_dims: dims that are macros DIM_<name> in the kernel
  std::vector<std::string> include_dirs;  ///< absolute
  std::vector<std::string> options;       ///< compiler options of the op's own
  std::vector<TypeParam> types;
  std::vector<Attribute> attrs;
  std::vector<TensorSpec> tensors;
  std::vector<ScalarSpec> scalars;
  std::vector<Parameter> params;
  std::vector<Let> lets;  ///< in the file's order, which means nothing
  std::vector<Constraint> constraints;
  std::vector<std::pair<std::string, Expression>> defaults;  ///< by parameter, in the parameters' order
  std::vector<LaunchSpec> launches;
  std::vector<LaunchSpec> reference;
  VerifySpec verify;
  CostSpec cost;
  std::vector<ProblemSpec> problems;
  std::string hash;  ///< XXH3-128 of the spec's bytes, hex
};

/// One point of the space: a value for every parameter, in the spec's order.
struct Variant {
  std::vector<std::pair<std::string, Value>> values;

  /// "BLOCK_SIZE=4096,num_warps=8": the database's key for a variant, and what --variant takes.
  std::string text() const;
  friend bool operator==(const Variant&, const Variant&) = default;
};

}  // namespace ktune::model
