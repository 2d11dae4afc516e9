#include <cstring>

#include "verify/verify_fixture.h"

// What a problem holds on the device.

namespace ktune::verify {
namespace {

TEST_F(Verify, RefusesAReferenceThatLeavesElementsUnwritten) {
  device_.kernels["reference"] = device_.kernels["low_half"];
  EXPECT_EQ(create_failure(), "leaves 512 of 1024 elements of out unwritten");
  device_.kernels["reference"] = device_.kernels["nothing"];
  EXPECT_EQ(create_failure(), "leaves 1024 of 1024 elements of out unwritten");
}

TEST_F(Verify, RefusesAReferenceThatWritesOutsideOrChangesAnInput) {
  device_.kernels["reference"] = device_.kernels["overrun"];
  EXPECT_EQ(create_failure(), "wrote outside the reference's out: byte 8 past its end");
  device_.kernels["reference"] = device_.kernels["changes_input"];
  EXPECT_EQ(create_failure(), "changed its input x");
}

TEST_F(Verify, RefusesAProblemBeyondTheFreeMemoryWithBothFigures) {
  device_.device_facts.memory_bytes = 10000;
  const auto memory = ProblemMemory::create(device_, plan_, 0);
  ASSERT_FALSE(memory.has_value());
  EXPECT_EQ(memory.error().outcome, Outcome::kRejected);
  EXPECT_EQ(
      memory.error().reason,
      "needs 16.0 KiB of device memory to be verified (inputs, outputs, a copy of them and the reference's outputs), "
      "9.8 KiB is free");
  EXPECT_EQ(device_.used, 0);
}

TEST_F(Verify, GivesAllMemoryBack) {
  create();
  EXPECT_GT(device_.used, 0);
  memory_.reset();
  EXPECT_EQ(device_.used, 0);
  EXPECT_TRUE(device_.blocks.empty());
}

TEST_F(Verify, LeavesNoGuardBandsWhereASanitizerWatches) {
  device_.device_facts.target = "cpu-sanitize";
  create();
  for (const auto& [pointer, bytes] : device_.blocks) EXPECT_EQ(bytes, kN * 4);
}

TEST_F(Verify, GrowsSetsWithValuesOfTheirOwnAtShiftedAddresses) {
  create();
  ASSERT_TRUE(memory_->grow(3).has_value());
  ASSERT_EQ(memory_->sets(), 3);
  std::vector<float> firsts;
  for (int set = 0; set < 3; ++set) {
    const GuardedBuffer& x = memory_->set(set).tensors().find("x")->buffer;
    firsts.push_back(*static_cast<const float*>(TestDevice::at(x.base)));
    EXPECT_EQ(x.base % 256, 0u);
    EXPECT_EQ((x.base - x.block) % 65536, static_cast<std::uint64_t>(set * 37 * 256));
    EXPECT_TRUE(launch_on(set, "right")->ok);
    EXPECT_FALSE(launch_on(set, "low_half")->ok);
  }
  EXPECT_NE(firsts[0], firsts[1]);
  EXPECT_NE(firsts[1], firsts[2]);
}

TEST_F(Verify, FindsResultsThatWereRememberedFromAnotherSet) {
  add("remembers", [first = std::vector<float>()](const float* x, float* out) mutable {
    if (first.empty()) first.assign(x, x + kN);
    fill(first.data(), out, 0, kN);
  });
  create();
  ASSERT_TRUE(memory_->grow(2).has_value());
  EXPECT_TRUE(launch_on(0, "remembers")->ok);
  EXPECT_EQ(launch_on(1, "remembers")->reason.substr(0, 30), "out: 1024 of 1024 elements dif");
}

TEST_F(Verify, FillsEachTensorFromAStreamOfItsOwn) {
  plan_.tensors = {tensor("x", Role::kIn, {kN}), tensor("y", Role::kIn, {kN}), tensor("out", Role::kOut, {kN})};
  plan_.reference = {launch_of("subtract", {"x", "y", "out"})};
  device_.kernels["subtract"] = [](const KernelArgs& args) {
    for (std::int64_t i = 0; i < kN; ++i)
      argument<float*>(args, 2)[i] = argument<const float*>(args, 0)[i] - argument<const float*>(args, 1)[i];
  };
  create();
  model::VariantPlan plan;
  plan.launches = {launch_of("subtract", {"y", "x", "out"})};
  auto swapped = load_variant(*memory_, 0, plan);
  ASSERT_TRUE(swapped.has_value());
  EXPECT_EQ(run_and_inspect(*memory_, *swapped)->reason.substr(0, 30), "out: 1024 of 1024 elements dif");
}

TEST_F(Verify, StopsGrowingWhenMemoryRunsShort) {
  device_.device_facts.memory_bytes = 1400 << 10;
  create();
  ASSERT_TRUE(memory_->grow(64).has_value());
  // A set is 396 KiB with its bands; two of them and the copy of the outputs leave 470 KiB, of which a quarter stays
  // free.
  EXPECT_EQ(memory_->sets(), 2);
  EXPECT_EQ(reason("right"), "ok");
}

TEST_F(Verify, FindsAReferenceThatIsWrongOnAFurtherSet) {
  int runs = 0;
  device_.kernels["reference"] = [&runs](const KernelArgs& args) {
    fill(argument<const float*>(args, 0), argument<float*>(args, 1), 0, ++runs > 2 ? kN / 2 : kN);
  };
  create();
  EXPECT_EQ(memory_->grow(2).error().reason,
            "the reference, on further inputs: leaves 512 of 1024 elements of out unwritten");
}

}  // namespace
}  // namespace ktune::verify
