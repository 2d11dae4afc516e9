// The spelling of every enumeration, one table each, read in both directions.

#include <array>
#include <utility>

#include "base/error.h"
#include "model/dtype.h"
#include "model/enum_names.h"
#include "model/op_spec.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "model/timing.h"

namespace ktune::model {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  int bytes;
  std::string_view cuda_name;
  double unit_roundoff;
};

constexpr std::array kDTypes = {
    DTypeRow{DType::kF16, "f16", 2, "__half", 0x1p-11}, DTypeRow{DType::kBf16, "bf16", 2, "__nv_bfloat16", 0x1p-8},
    DTypeRow{DType::kF32, "f32", 4, "float", 0x1p-24},  DTypeRow{DType::kF64, "f64", 8, "double", 0x1p-53},
    DTypeRow{DType::kI8, "i8", 1, "signed char", 0.0},  DTypeRow{DType::kU8, "u8", 1, "unsigned char", 0.0},
    DTypeRow{DType::kI32, "i32", 4, "int", 0.0},        DTypeRow{DType::kI64, "i64", 8, "long long", 0.0},
};

constexpr auto kDTypeOrder = [] {
  std::array<DType, kDTypes.size()> order{};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = kDTypes[i].dtype;
  return order;
}();

const DTypeRow& row_of(DType dtype) {
  for (const DTypeRow& row : kDTypes) {
    if (row.dtype == dtype) return row;
  }
  bug("a DType without a row", __FILE__, __LINE__);
}

constexpr Names<Role, 4> kRoles = {
    {{Role::kIn, "in"}, {Role::kOut, "out"}, {Role::kInOut, "inout"}, {Role::kScratch, "scratch"}}};

constexpr Names<InitKind, 8> kInitKinds = {{{InitKind::kNormal, "normal"},
                                            {InitKind::kUniform, "uniform"},
                                            {InitKind::kZeros, "zeros"},
                                            {InitKind::kOnes, "ones"},
                                            {InitKind::kConstant, "constant"},
                                            {InitKind::kRandint, "randint"},
                                            {InitKind::kZeroRow, "zero_row"},
                                            {InitKind::kSpecial, "special"}}};

constexpr Names<Outcome, 7> kOutcomes = {{{Outcome::kMeasured, "Measured"},
                                          {Outcome::kRejected, "Rejected"},
                                          {Outcome::kCompileFailed, "CompileFailed"},
                                          {Outcome::kLaunchFailed, "LaunchFailed"},
                                          {Outcome::kWrongResult, "WrongResult"},
                                          {Outcome::kTimedOut, "TimedOut"},
                                          {Outcome::kCrashed, "Crashed"}}};

constexpr Names<ArgPlan::Kind, 3> kArgKinds = {
    {{ArgPlan::Kind::kTensor, "tensor"}, {ArgPlan::Kind::kScalar, "scalar"}, {ArgPlan::Kind::kInteger, "integer"}}};

constexpr Names<CacheState, 3> kCacheStates = {
    {{CacheState::kCold, "cold"}, {CacheState::kDirty, "dirty"}, {CacheState::kWarm, "warm"}}};

}  // namespace

std::span<const DType> all_dtypes() { return kDTypeOrder; }
std::string_view name_of(DType dtype) { return row_of(dtype).name; }
int size_of(DType dtype) { return row_of(dtype).bytes; }
std::string_view cuda_name(DType dtype) { return row_of(dtype).cuda_name; }
double unit_roundoff(DType dtype) { return row_of(dtype).unit_roundoff; }
std::optional<DType> parse_dtype(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

std::string_view name_of(Role role) { return find_name(kRoles, role); }
std::optional<Role> parse_as(Role, std::string_view name) { return find_value(kRoles, name); }

std::string_view name_of(InitKind kind) { return find_name(kInitKinds, kind); }
std::optional<InitKind> parse_init_kind(std::string_view name) { return find_value(kInitKinds, name); }

std::string_view name_of(Outcome outcome) { return find_name(kOutcomes, outcome); }
std::optional<Outcome> parse_as(Outcome, std::string_view name) { return find_value(kOutcomes, name); }

std::string_view name_of(ArgPlan::Kind kind) { return find_name(kArgKinds, kind); }
std::optional<ArgPlan::Kind> parse_as(ArgPlan::Kind, std::string_view name) { return find_value(kArgKinds, name); }

std::string_view name_of(CacheState state) { return find_name(kCacheStates, state); }
std::optional<CacheState> parse_cache_state(std::string_view name) { return find_value(kCacheStates, name); }

}  // namespace ktune::model
