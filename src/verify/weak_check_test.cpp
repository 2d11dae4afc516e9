#include "verify/verify_fixture.h"

// A problem on which nothing, or a copy, would pass verifies nobody.

namespace ktune::verify {
namespace {

class WeakCheck : public Verify {
 protected:
  /// The reference is value(x[i], i).
  template <typename Value>
  void reference(Value value) {
    add("reference", [value](const float* x, float* out) {
      for (std::int64_t i = 0; i < kN; ++i) out[i] = value(x[i], i);
    });
  }
};

TEST_F(WeakCheck, RefusesAToleranceThatZerosPass) {
  reference([](float x, std::int64_t) { return 1e-6f * x; });
  EXPECT_TRUE(create_failure().starts_with("weak-check: zeros would pass as out (0.")) << create_failure();
  EXPECT_TRUE(create_failure().ends_with(" times the tolerance), so this problem verifies nobody")) << create_failure();
}

TEST_F(WeakCheck, ScalesTheToleranceToWhatTheReferenceGives) {
  reference([](float x, std::int64_t) { return 1e-6f * x; });
  plan_.tensors[1].tolerance.unit = 1.0;
  EXPECT_EQ(create_failure(), "ok");
  create();
  // x has a root mean square of 1, and 1024 of them have 0.89 of that at least.
  EXPECT_NEAR(memory_->set(0).checks()[0].plan.tolerance.atol, 1e-5 * 1e-6 / 0.894, 0.05e-11);
  EXPECT_EQ(memory_->set(0).checks()[0].plan.tolerance.rtol, 1e-5);
  reference([](float x, std::int64_t) { return 1e3f * x; });
  create();
  EXPECT_NEAR(memory_->set(0).checks()[0].plan.tolerance.atol, 1e-5 * 1e3 * 0.798, 1e-3) << "their mean size";
  reference([](float x, std::int64_t i) { return i == 7 ? 1e6f : x; });
  create();
  EXPECT_LT(memory_->set(0).checks()[0].plan.tolerance.atol, 1e-5 * 1100) << "not by the outlier's root mean square";
}

TEST_F(WeakCheck, DoesNotTakeOneSmallSumForASmallMagnitude) {
  plan_.tensors[1] = tensor("out", Role::kOut, {1});
  plan_.tensors[1].tolerance.unit = 100.0;
  device_.kernels["reference"] = [](const KernelArgs& args) { *argument<float*>(args, 1) = 0.25f; };
  create();
  EXPECT_EQ(memory_->set(0).checks()[0].plan.tolerance.atol, 1e-5);
}

TEST_F(WeakCheck, TakesNanForNanWhateverItsBits) {
  add("reference", [](const float*, float* out) {
    for (std::int64_t i = 0; i < kN; ++i)
      out[i] = std::copysign(std::numeric_limits<float>::quiet_NaN(), i % 2 == 0 ? -1.0f : 1.0f);
  });
  EXPECT_EQ(create_failure(), "ok") << "there is no other value to put in an element's place";
}

TEST_F(WeakCheck, RefusesAConstantAndACopyUnlessTheSpecSaysThatThatIsTheOp) {
  reference([](float, std::int64_t) { return 2.5f; });
  EXPECT_TRUE(create_failure().starts_with("weak-check: the constant 2.5 would pass as out")) << create_failure();
  reference([](float x, std::int64_t) { return x; });
  EXPECT_TRUE(create_failure().starts_with("weak-check: a copy of x would pass as out")) << create_failure();
  plan_.tensors[1].trivial = true;
  EXPECT_EQ(create_failure(), "ok");
  reference([](float, std::int64_t) { return 2.5f; });
  EXPECT_EQ(create_failure(), "ok");
}

TEST_F(WeakCheck, RefusesAToleranceThatHidesAReplacedElement) {
  reference([](float x, std::int64_t) { return 100.0f + x; });
  plan_.tensors[1].tolerance = {0.0, 50.0};
  plan_.tensors[1].trivial = true;
  EXPECT_TRUE(
      create_failure().starts_with("weak-check: the right results with one element in 4096 replaced would pass as out"))
      << create_failure();
}

TEST_F(WeakCheck, LeavesTheProblemAsItWas) {
  create();
  EXPECT_EQ(reason("nothing"), "out: 1024 of 1024 elements never written, first at [0]");
  EXPECT_EQ(reason("right"), "ok");
}

TEST_F(WeakCheck, OfAnOutputInPlaceComparesWithItsFirstValues) {
  plan_.tensors = {tensor("x", Role::kIn, {kN}), tensor("out", Role::kInOut, {kN})};
  add("reference", [](const float*, float*) {});
  EXPECT_TRUE(create_failure().starts_with("weak-check: a copy of out would pass as out")) << create_failure();
}

/// Errors that each element may have, but not all of them.
TEST_F(WeakCheck, FindsErrorsThatAreTooLargeTogether) {
  plan_.tensors[1].tolerance = {1e-3, 0.0, 0.35};
  const auto off = [this](const std::string& name, float by, std::int64_t one_in) {
    add(name, [by, one_in](const float* x, float* out) {
      fill(x, out, 0, kN);
      for (std::int64_t i = 0; i < kN; i += one_in) out[i] *= 1.0f + by;
    });
  };
  off("all", 0.6e-3f, 1);
  off("few", 0.6e-3f, 10);
  off("little", 0.3e-3f, 1);
  create();
  EXPECT_EQ(reason("all"),
            "out: the errors of its 1024 elements are too large together: their root mean square is 0.6 times the "
            "tolerance, at most 0.38 is right");
  EXPECT_EQ(reason("few"), "ok");
  EXPECT_EQ(reason("little"), "ok");
}

TEST(MostRmsMargin, ComesNearTheMaximumForFewElements) {
  const model::Tolerance tolerance{0.0, 1.0, 0.35};
  EXPECT_EQ(device::most_rms_margin(tolerance, 1), 1.0);
  EXPECT_NEAR(device::most_rms_margin(tolerance, 100), 0.455, 1e-12);
  EXPECT_NEAR(device::most_rms_margin(tolerance, 1000000), 0.351, 0.0002);
  EXPECT_EQ(device::most_rms_margin({0.0, 1.0}, 1000000), 1.0);
}

}  // namespace
}  // namespace ktune::verify
