#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "model/dtype.h"
#include "model/op_spec.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "model/timing.h"

namespace ktune::model {
namespace {

TEST(DType, EveryDtypeHasTheNameSizeAndSpellingOfItsKernelType) {
  struct Expected {
    DType dtype;
    std::string name;
    int bytes;
    std::string cuda;
  };
  const Expected expected[] = {{DType::kF16, "f16", 2, "__half"},    {DType::kBf16, "bf16", 2, "__nv_bfloat16"},
                               {DType::kF32, "f32", 4, "float"},     {DType::kF64, "f64", 8, "double"},
                               {DType::kI8, "i8", 1, "signed char"}, {DType::kU8, "u8", 1, "unsigned char"},
                               {DType::kI32, "i32", 4, "int"},       {DType::kI64, "i64", 8, "long long"}};
  ASSERT_EQ(all_dtypes().size(), std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(all_dtypes()[i], expected[i].dtype);
    EXPECT_EQ(name_of(expected[i].dtype), expected[i].name);
    EXPECT_EQ(parse_dtype(expected[i].name), expected[i].dtype);
    EXPECT_EQ(size_of(expected[i].dtype), expected[i].bytes);
    EXPECT_EQ(cuda_name(expected[i].dtype), expected[i].cuda);
  }
  EXPECT_EQ(parse_dtype("float"), std::nullopt);
  EXPECT_EQ(parse_dtype("BF16"), std::nullopt);
}

TEST(DType, UnitRoundoffIsHalfTheDistanceFromOneToTheNextValue) {
  EXPECT_EQ(unit_roundoff(DType::kF16), std::pow(2.0, -11));
  EXPECT_EQ(unit_roundoff(DType::kBf16), std::pow(2.0, -8));
  EXPECT_EQ(unit_roundoff(DType::kF32), (std::nextafter(1.0F, 2.0F) - 1.0F) / 2);
  EXPECT_EQ(unit_roundoff(DType::kF64), (std::nextafter(1.0, 2.0) - 1.0) / 2);
  EXPECT_EQ(unit_roundoff(DType::kI32), 0.0);
}

/// Checks that names are what design and database say, all different, and read back.
template <typename Enum>
void expect_names(const std::vector<std::string>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    auto value = static_cast<Enum>(i);
    EXPECT_EQ(name_of(value), expected[i]);
    EXPECT_EQ(parse_as(Enum{}, expected[i]), value);
  }
  EXPECT_EQ(parse_as(Enum{}, ""), std::nullopt);
  EXPECT_EQ(parse_as(Enum{}, "nothing"), std::nullopt);
}

TEST(Names, ReadBackAsWhatTheyName) {
  expect_names<Role>({"in", "out", "inout", "scratch"});
  expect_names<InitKind>({"normal", "uniform", "zeros", "ones", "constant", "randint", "zero_row", "special"});
  expect_names<Outcome>(
      {"Measured", "Rejected", "CompileFailed", "LaunchFailed", "WrongResult", "TimedOut", "Crashed"});
  expect_names<CacheState>({"cold", "dirty", "warm"});
  expect_names<DType>({"f16", "bf16", "f32", "f64", "i8", "u8", "i32", "i64"});
  expect_names<ArgPlan::Kind>({"tensor", "scalar", "integer"});
}

}  // namespace
}  // namespace ktune::model
