#include "device/host_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <vector>

namespace ktune::device {
namespace {

using model::DType;
using model::InitKind;

constexpr std::uint32_t kPoison = 0x7ff57ff5u;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

model::TensorPlan plan_of(DType dtype, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
                          std::int64_t offset = 0) {
  model::TensorPlan plan;
  plan.dtype = dtype;
  plan.shape = std::move(shape);
  plan.strides = std::move(strides);
  plan.offset = offset;
  plan.storage = offset + 1;
  for (std::size_t i = 0; i < plan.shape.size(); ++i) plan.storage += (plan.shape[i] - 1) * plan.strides[i];
  return plan;
}

std::vector<float> filled(const model::TensorPlan& plan, std::uint64_t seed) {
  std::vector<float> data(static_cast<std::size_t>(plan.storage), 0.0f);
  host_initialise(data.data(), plan, seed);
  return data;
}

std::uint16_t bits_of(DType dtype, double value) {
  std::uint16_t bits = 0;
  store_element(dtype, &bits, value);
  return bits;
}

TEST(Elements, AreRoundedOnceToNearestEven) {
  EXPECT_EQ(bits_of(DType::kF16, 1.0), 0x3c00);
  EXPECT_EQ(bits_of(DType::kF16, -2.5), 0xc100);
  EXPECT_EQ(bits_of(DType::kF16, 1.0 + 0x1p-11), 0x3c00);  // a tie goes to even
  EXPECT_EQ(bits_of(DType::kF16, 1.0 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(bits_of(DType::kF16, 1.0 + 0x1p-11 + 0x1p-40), 0x3c01);  // through f32 it would be a tie
  EXPECT_EQ(bits_of(DType::kF16, 65504.0), 0x7bff);
  EXPECT_EQ(bits_of(DType::kF16, 65519.99), 0x7bff);
  EXPECT_EQ(bits_of(DType::kF16, 65520.0), 0x7c00);
  EXPECT_EQ(bits_of(DType::kF16, 0x1p-24), 0x0001);
  EXPECT_EQ(bits_of(DType::kF16, 0x1p-25), 0x0000);
  EXPECT_EQ(bits_of(DType::kF16, 1023.5 * 0x1p-24), 0x0400);  // a subnormal rounds up to the first normal
  EXPECT_EQ(bits_of(DType::kF16, -0.0), 0x8000);
  EXPECT_EQ(bits_of(DType::kF16, 1e300), 0x7c00);
  EXPECT_EQ(bits_of(DType::kBf16, 1.0 + 0x1p-8), 0x3f80);
  EXPECT_EQ(bits_of(DType::kBf16, 1.0 + 0x1p-8 + 0x1p-45), 0x3f81);
  EXPECT_EQ(bits_of(DType::kBf16, -kInf), 0xff80);
  EXPECT_EQ(bits_of(DType::kBf16, 3.39e38), 0x7f7f);
  EXPECT_EQ(bits_of(DType::kBf16, 1e39), 0x7f80);
}

TEST(Elements, ComeBackAsTheyWereForEverySixteenBitPattern) {
  for (const DType dtype : {DType::kF16, DType::kBf16}) {
    for (unsigned word = 0; word < 0x10000; ++word) {
      const auto bits = static_cast<std::uint16_t>(word);
      const double value = load_element(dtype, &bits);
      if (std::isnan(value)) continue;
      ASSERT_EQ(bits_of(dtype, value), bits);
    }
  }
}

TEST(Elements, OfIntegersAreClampedAndNaNIsZero) {
  std::int8_t small = 1;
  store_element(DType::kI8, &small, 200.0);
  EXPECT_EQ(small, 127);
  store_element(DType::kI8, &small, -1e30);
  EXPECT_EQ(small, -128);
  store_element(DType::kI8, &small, 2.5);
  EXPECT_EQ(small, 2);
  std::int64_t wide = 1;
  store_element(DType::kI64, &wide, 1e30);
  EXPECT_EQ(wide, std::numeric_limits<std::int64_t>::max());
  store_element(DType::kI64, &wide, kNan);
  EXPECT_EQ(wide, 0);
}

TEST(Initialise, GivesTheSameValuesWhateverTheStridesAndNaNBetweenRows) {
  const auto packed = filled(plan_of(DType::kF32, {4, 5}, {5, 1}), 7);
  const auto strided = filled(plan_of(DType::kF32, {4, 5}, {9, 1}, 3), 7);
  const auto turned = filled(plan_of(DType::kF32, {4, 5}, {1, 4}), 7);
  std::set<std::size_t> used;
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 5; ++column) {
      EXPECT_EQ(strided[3 + 9 * row + column], packed[5 * row + column]);
      EXPECT_EQ(turned[row + 4 * column], packed[5 * row + column]);
      used.insert(3 + 9 * row + column);
    }
  }
  for (std::size_t i = 0; i < strided.size(); ++i) EXPECT_EQ(std::isnan(strided[i]), used.count(i) == 0) << i;
  EXPECT_NE(filled(plan_of(DType::kF32, {4, 5}, {5, 1}), 8), packed);
}

TEST(Initialise, GivesAnExpandedDimensionTheValuesOfItsFirstIndex) {
  const auto packed = filled(plan_of(DType::kF32, {3, 4}, {4, 1}), 5);
  const auto expanded = filled(plan_of(DType::kF32, {3, 4}, {0, 1}), 5);
  ASSERT_EQ(expanded.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(expanded[i], packed[i]);
  const auto columns = filled(plan_of(DType::kF32, {3, 4}, {1, 0}), 5);
  ASSERT_EQ(columns.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(columns[i], packed[4 * i]);
}

TEST(Initialise, DrawsNormalsOfTheAskedMeanAndSpread) {
  model::TensorPlan plan = plan_of(DType::kF64, {200000}, {1});
  plan.init = {InitKind::kNormal, 3.0, 2.0};
  std::vector<double> data(200000);
  host_initialise(data.data(), plan, 11);
  double sum = 0.0;
  double squares = 0.0;
  double fourth = 0.0;
  for (const double value : data) {
    const double z = (value - 3.0) / 2.0;
    sum += z;
    squares += z * z;
    fourth += z * z * z * z;
  }
  EXPECT_NEAR(sum / 200000, 0.0, 0.01);  // four standard errors
  EXPECT_NEAR(squares / 200000, 1.0, 0.0127);
  EXPECT_NEAR(fourth / 200000, 3.0, 0.09);
}

TEST(Initialise, FillsEveryKindWithinItsRange) {
  model::TensorPlan plan = plan_of(DType::kF32, {300, 100}, {100, 1});
  plan.init = {InitKind::kUniform, -1.0, 3.0};
  double sum = 0.0;
  for (const float value : filled(plan, 1)) {
    ASSERT_GE(value, -1.0f);
    ASSERT_LE(value, 3.0f);
    sum += value;
  }
  EXPECT_NEAR(sum / 30000, 1.0, 0.03);
  plan.init = {InitKind::kConstant, 0.25, 0.0};
  for (const float value : filled(plan, 1)) ASSERT_EQ(value, 0.25f);
  plan.init = {InitKind::kRandint, -2.0, 3.0};
  std::set<float> seen;
  for (const float value : filled(plan, 1)) seen.insert(value);
  EXPECT_EQ(seen, (std::set<float>{-2.0f, -1.0f, 0.0f, 1.0f, 2.0f}));
  plan.init = {InitKind::kZeroRow, 0.0, 1.0};
  const auto rows = filled(plan, 1);
  for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i] == 0.0f, i / 100 % 3 == 2) << i;
  plan.init = {InitKind::kSpecial, 0.0, 1.0};
  int nans = 0;
  int infinities = 0;
  for (const float value : filled(plan, 1)) {
    nans += std::isnan(value);
    infinities += std::isinf(value);
  }
  EXPECT_NEAR(nans, 30000 / 97 / 5, 40);
  EXPECT_NEAR(infinities, 2 * 30000 / 97 / 5, 50);
}

TEST(Poison, CoversTheTailAndTheFirstChangeIsFound) {
  std::vector<std::uint8_t> bytes(11, 0);
  host_poison(bytes.data(), 10, 0x44332211u);
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{0x11, 0x22, 0x33, 0x44, 0x11, 0x22, 0x33, 0x44, 0x11, 0x22, 0}));
  EXPECT_EQ(host_first_changed(bytes.data(), 10, 0x44332211u), -1);
  EXPECT_EQ(host_first_changed(bytes.data(), 11, 0x44332211u), 10);
  bytes[5] = 0;
  EXPECT_EQ(host_first_changed(bytes.data(), 10, 0x44332211u), 5);
}

/// Compares lists of values as tensors of a dtype; a missing value is poison.
CompareResult compared(DType dtype, const std::vector<std::optional<double>>& out,
                       const std::vector<std::optional<double>>& ref, model::Tolerance tolerance = {}) {
  model::TensorPlan plan = plan_of(dtype, {static_cast<std::int64_t>(out.size())}, {1});
  plan.tolerance = tolerance;
  const auto size = static_cast<std::size_t>(model::size_of(dtype));
  const auto stored = [&](const std::vector<std::optional<double>>& values) {
    std::vector<std::uint8_t> bytes(values.size() * size);
    host_poison(bytes.data(), static_cast<std::int64_t>(bytes.size()), kPoison);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i]) store_element(dtype, bytes.data() + i * size, *values[i]);
    }
    return bytes;
  };
  return host_compare(stored(out).data(), stored(ref).data(), plan, {kPoison, kPoison});
}

TEST(Compare, TakesNaNAsEqualToNaNAndInfinitiesAsValues) {
  for (const DType dtype : {DType::kF16, DType::kBf16, DType::kF32, DType::kF64}) {
    EXPECT_EQ(compared(dtype, {kNan, kInf, -kInf, 0.0}, {kNan, kInf, -kInf, -0.0}).mismatches, 0);
    const auto result = compared(dtype, {1.0, kNan, kInf, 1.0, -kInf}, {1.0, 1.0, 1.0, kNan, kInf}, {1e30, 1e30});
    EXPECT_EQ(result.mismatches, 4);
    EXPECT_EQ(result.first, 1);
    EXPECT_TRUE(std::isnan(result.first_out));
    EXPECT_EQ(result.first_ref, 1.0);
    EXPECT_EQ(result.elements, 5);
    EXPECT_EQ(result.worst_margin, 0.0);
  }
}

TEST(Compare, CountsWhatOneOfThemDidNotWrite) {
  for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64, DType::kI8}) {
    const auto result = compared(dtype, {1.0, std::nullopt, 2.0, std::nullopt}, {1.0, 3.0, std::nullopt, std::nullopt});
    EXPECT_EQ(result.unwritten, 2);
    EXPECT_EQ(result.mismatches, 0);
    EXPECT_EQ(result.first, 1);
    EXPECT_EQ(result.elements, 3) << "written by one of them";
  }
}

TEST(Compare, KnowsEachSidesPoison) {
  const model::TensorPlan plan = plan_of(DType::kU8, {4}, {1});
  const Poison poison{0x04030201u, 0x08070605u};
  const std::array<std::uint8_t, 4> reference{5, 2, 9, 8};  // the first and the last may be unwritten
  const auto compare = [&](std::array<std::uint8_t, 4> out) { return host_compare(&out, &reference, plan, poison); };
  EXPECT_EQ(compare({5, 2, 9, 8}).mismatches + compare({5, 2, 9, 8}).unwritten, 0) << "the same bytes are right";
  EXPECT_EQ(compare({1, 2, 9, 4}).unwritten, 0) << "poison on both sides";
  EXPECT_EQ(compare({1, 2, 9, 4}).elements, 2);
  EXPECT_EQ(compare({5, 2, 3, 8}).unwritten, 1);
  EXPECT_EQ(compare({5, 2, 3, 8}).first, 2);
  const Poison complete{poison.out, poison.reference, false};
  const std::array<std::uint8_t, 4> unwritten{1, 2, 9, 8};
  EXPECT_EQ(host_compare(&unwritten, &reference, plan, complete).unwritten, 1) << "the reference wrote a 5 there";
}

TEST(Compare, LooksAtTheShareItIsTold) {
  const std::int64_t n = 10 * kShareRun + 100;
  const model::TensorPlan plan = plan_of(DType::kI32, {n}, {1});
  const std::vector<std::int32_t> reference(static_cast<std::size_t>(n), 1);
  std::vector<std::int32_t> out = reference;
  out[static_cast<std::size_t>(4 * kShareRun + 3)] = 2;
  out[static_cast<std::size_t>(n - 1)] = 2;
  std::int64_t seen = 0;
  for (std::int64_t phase = 0; phase < 3; ++phase) {
    const auto part = host_compare(out.data(), reference.data(), plan, {kPoison, kPoison}, {3, phase});
    seen += part.elements;
    EXPECT_EQ(part.mismatches, phase == 1 ? 2 : 0) << phase;
    EXPECT_EQ(part.first, phase == 1 ? 4 * kShareRun + 3 : -1);
  }
  EXPECT_EQ(seen, n);
  EXPECT_EQ(host_compare(out.data(), reference.data(), plan, {kPoison, kPoison}, {30, 20}).elements, 0);
}

TEST(ShareOf, CoversTheWholeOutputInTime) {
  const model::TensorPlan plan = plan_of(DType::kF32, {1000}, {1});
  EXPECT_EQ(share_of(plan, 4000, 0).period, 1);
  EXPECT_EQ(share_of(plan, 1000, 0).period, 4);
  std::set<std::int64_t> phases;
  for (int launch = 0; launch < 100; ++launch) phases.insert(share_of(plan, 1000, launch).phase);
  EXPECT_EQ(phases, (std::set<std::int64_t>{0, 1, 2, 3}));
}

TEST(Compare, MeasuresTheMarginAgainstTheTolerance) {
  const auto near = compared(DType::kF32, {1.0, 10.5, 0.0}, {1.0, 10.0, 0.0}, {0.1, 0.25});
  EXPECT_EQ(near.mismatches, 0);
  EXPECT_DOUBLE_EQ(near.worst_margin, 0.4);
  const auto far = compared(DType::kF32, {1.0, 12.5}, {1.0, 10.0}, {0.1, 0.25});
  EXPECT_EQ(far.mismatches, 1);
  EXPECT_DOUBLE_EQ(far.worst_margin, 2.0);
  EXPECT_EQ(compared(DType::kF32, {1.0}, {1.0}).worst_margin, 0.0);
  EXPECT_EQ(compared(DType::kF32, {1.0}, {1.5}).worst_margin, kHugeMargin);
}

TEST(Compare, TellsWideIntegersApartThatF64DoesNot) {
  std::int64_t out = (1ll << 60) + 1;
  std::int64_t ref = 1ll << 60;
  const model::TensorPlan plan = plan_of(DType::kI64, {1}, {1});
  EXPECT_EQ(host_compare(&out, &ref, plan, {kPoison, kPoison}).mismatches, 1);
  out = ref;
  EXPECT_EQ(host_compare(&out, &ref, plan, {kPoison, kPoison}).mismatches, 0);
}

TEST(Checksum, DependsOnOrderLengthAndEveryByte) {
  std::vector<std::uint8_t> bytes(37);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(3 * i);
  const std::uint64_t whole = host_checksum(bytes.data(), 37);
  EXPECT_EQ(host_checksum(bytes.data(), 37), whole);
  EXPECT_NE(host_checksum(bytes.data(), 36), whole);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= 1;
    EXPECT_NE(host_checksum(bytes.data(), 37), whole) << i;
    bytes[i] ^= 1;
  }
  std::vector<std::uint8_t> turned = bytes;
  std::swap_ranges(turned.begin(), turned.begin() + 4, turned.begin() + 4);
  EXPECT_NE(host_checksum(turned.data(), 37), whole);
  EXPECT_NE(host_checksum("\0", 1), host_checksum("\0\0", 2));
}

}  // namespace
}  // namespace ktune::device
