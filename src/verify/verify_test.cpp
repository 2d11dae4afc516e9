#include "verify/verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "verify/test_device.h"

namespace ktune::verify {
namespace {

using model::Outcome;
using model::Role;

constexpr std::int64_t kN = 1024;

/// out[i] = x[i] + 1, with variants that are wrong in one way each.
class Verify : public testing::Test {
 protected:
  Verify() {
    add("reference", [](const float* x, float* out) { fill(x, out, 0, kN); });
    add("right", [](const float* x, float* out) { fill(x, out, 0, kN); });
    add("low_half", [](const float* x, float* out) { fill(x, out, 0, kN / 2); });
    add("high_half", [](const float* x, float* out) { fill(x, out, kN / 2, kN); });
    add("nothing", [](const float*, float*) {});
    add("nan", [](const float*, float* out) { std::fill(out, out + kN, std::numeric_limits<float>::quiet_NaN()); });
    add("one_off", [](const float* x, float* out) {
      fill(x, out, 0, kN);
      out[17] = 100.0f;
    });
    add("overrun", [](const float* x, float* out) {
      fill(x, out, 0, kN);
      out[kN + 2] = 0.0f;
    });
    add("underrun", [](const float* x, float* out) {
      fill(x, out, 0, kN);
      out[-1] = 0.0f;
    });
    add("changes_input", [](const float* x, float* out) {
      fill(x, out, 0, kN);
      const_cast<float*>(x)[5] = 0.0f;
    });
    plan_.op = "plus_one";
    plan_.seed = 3;
    plan_.tensors = {tensor("x", Role::kIn, {kN}), tensor("out", Role::kOut, {kN})};
    plan_.reference = {launch_of("reference", {"x", "out"})};
  }

  static void fill(const float* x, float* out, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) out[i] = x[i] + 1.0f;
  }
  void add(const std::string& name, std::function<void(const float*, float*)> kernel) {
    device_.kernels[name] = [kernel](const KernelArgs& args) {
      kernel(argument<const float*>(args, 0), argument<float*>(args, 1));
    };
  }
  void create() {
    auto memory = ProblemMemory::create(device_, plan_, 0);
    ASSERT_TRUE(memory.has_value()) << memory.error().reason;
    memory_ = std::move(*memory);
  }
  model::Result<Verification> run(const std::string& kernel, int set = 0) {
    model::VariantPlan plan;
    plan.launches = {launch_of(kernel, {"x", "out"})};
    auto variant = load_variant(*memory_, 0, plan);
    if (!variant) return tl::unexpected(variant.error());
    return run_and_inspect(*memory_, *variant, set);
  }
  std::string reason(const std::string& kernel) {
    const model::Result<Verification> report = run(kernel);
    if (!report) return "failure: " + report.error().reason;
    return report->ok ? "ok" : report->reason;
  }
  std::string create_failure() {
    const auto memory = ProblemMemory::create(device_, plan_, 0);
    return memory ? "ok" : memory.error().reason;
  }

  TestDevice device_;
  model::ProblemPlan plan_;
  std::unique_ptr<ProblemMemory> memory_;
};

TEST_F(Verify, PassesARightVariantWithItsMargin) {
  create();
  const model::Result<Verification> report = run("right");
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->ok);
  EXPECT_EQ(report->reason, "");
  EXPECT_EQ(report->margin, 0.0);
}

TEST_F(Verify, FindsBothHalvesWrongInEitherOrder) {
  create();
  const std::string low = "out: 512 of 1024 elements never written, first at [512]";
  const std::string high = "out: 512 of 1024 elements never written, first at [0]";
  EXPECT_EQ(reason("low_half"), low);
  EXPECT_EQ(reason("high_half"), high);
  EXPECT_EQ(reason("high_half"), high);
  EXPECT_EQ(reason("low_half"), low);
}

TEST_F(Verify, FindsAVariantThatWritesNothingEvenAfterARightOne) {
  create();
  EXPECT_EQ(reason("right"), "ok");
  EXPECT_EQ(reason("nothing"), "out: 1024 of 1024 elements never written, first at [0]");
}

TEST_F(Verify, FindsNanWhereTheReferenceHasNone) {
  create();
  EXPECT_EQ(reason("nan").substr(0, 60), "out: 1024 of 1024 elements differ, first at [0]: nan, expect");
}

TEST_F(Verify, NamesTheFirstWrongElementAndBothValues) {
  create();
  const std::string text = reason("one_off");
  EXPECT_EQ(text.substr(0, 59), "out: 1 of 1024 elements differ, first at [17]: 100, expecte");
  EXPECT_NE(text.find("times the tolerance"), std::string::npos) << text;
}

TEST_F(Verify, FindsAWritePastTheEndAlthoughTheOutputIsRight) {
  create();
  EXPECT_EQ(reason("overrun"), "wrote outside out: byte 8 past its end");
  EXPECT_EQ(reason("right"), "ok") << "the guard band must be whole again";
}

TEST_F(Verify, FindsAWriteBeforeTheStart) {
  create();
  EXPECT_EQ(reason("underrun"), "wrote outside out: byte 4 before its start");
  EXPECT_EQ(reason("right"), "ok");
}

TEST_F(Verify, FindsAChangedInputAndGivesItItsValuesBack) {
  create();
  EXPECT_EQ(reason("changes_input"), "changed its input x");
  EXPECT_EQ(reason("right"), "ok");
}

TEST_F(Verify, ReportsALaunchThatFailsAsAFailure) {
  create();
  const model::Result<Verification> report = run("no_such_kernel");
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().outcome, Outcome::kLaunchFailed);
  EXPECT_EQ(report.error().reason, "no kernel no_such_kernel");
}

TEST_F(Verify, RejectsALaunchBeyondTheDeviceBeforeItRuns) {
  create();
  model::VariantPlan plan;
  plan.launches = {launch_of("right", {"x", "out"})};
  plan.launches[0].smem_bytes = 300 * 1024;
  const auto variant = load_variant(*memory_, 0, plan);
  ASSERT_FALSE(variant.has_value());
  EXPECT_EQ(variant.error().outcome, Outcome::kRejected);
}

TEST_F(Verify, RefusesAnArgumentThatNamesNoTensor) {
  create();
  model::VariantPlan plan;
  plan.launches = {launch_of("right", {"x", "y"})};
  const auto variant = load_variant(*memory_, 0, plan);
  ASSERT_FALSE(variant.has_value());
  EXPECT_EQ(variant.error().reason, "kernel right asks for tensor 'y', which this launch does not have");
}

TEST_F(Verify, MarksDamageToTheReferencesResultsAsLasting) {
  create();
  const device::DevicePtr results = memory_->reference().find("out")->buffer.base;
  add("vandal", [results](const float* x, float* out) {
    fill(x, out, 0, kN);
    static_cast<float*>(TestDevice::at(results))[9] = 7.0f;
  });
  const model::Result<Verification> report = run("vandal");
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->ok);
  EXPECT_TRUE(report->lasting);
  EXPECT_NE(report->reason.find("wrote into the reference's out"), std::string::npos) << report->reason;
}

TEST_F(Verify, RefusesAReferenceThatLeavesElementsUnwritten) {
  device_.kernels["reference"] = device_.kernels["low_half"];
  EXPECT_EQ(create_failure(), "the reference: leaves 512 of 1024 elements of out unwritten");
  device_.kernels["reference"] = device_.kernels["nothing"];
  EXPECT_EQ(create_failure(), "the reference: leaves 1024 of 1024 elements of out unwritten");
}

TEST_F(Verify, RefusesAReferenceThatWritesOutsideOrChangesAnInput) {
  device_.kernels["reference"] = device_.kernels["overrun"];
  EXPECT_EQ(create_failure(), "the reference: wrote outside the reference's out: byte 8 past its end");
  device_.kernels["reference"] = device_.kernels["changes_input"];
  EXPECT_EQ(create_failure(), "the reference: changed its input x");
}

TEST_F(Verify, RefusesAProblemBeyondTheFreeMemoryWithBothFigures) {
  device_.device_facts.memory_bytes = 10000;
  const auto memory = ProblemMemory::create(device_, plan_, 0);
  ASSERT_FALSE(memory.has_value());
  EXPECT_EQ(memory.error().outcome, Outcome::kRejected);
  EXPECT_EQ(memory.error().reason,
            "needs 12.0 KiB of device memory to be verified (inputs, outputs and the reference's outputs), 9.8 KiB is "
            "free");
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

TEST_F(Verify, GrowsSetsWithTheSameValuesAtShiftedAddresses) {
  create();
  ASSERT_TRUE(memory_->grow(3).has_value());
  ASSERT_EQ(memory_->sets(), 3);
  for (int set = 0; set < 3; ++set) {
    const GuardedBuffer& x = memory_->set(set).find("x")->buffer;
    EXPECT_EQ(std::memcmp(TestDevice::at(x.base), TestDevice::at(memory_->set(0).find("x")->buffer.base), kN * 4), 0);
    EXPECT_EQ(x.base % 256, 0u);
    EXPECT_EQ((x.base - x.block) % 65536, static_cast<std::uint64_t>(set * 37 * 256));
    EXPECT_TRUE(run("right", set)->ok);
    EXPECT_FALSE(run("low_half", set)->ok);
  }
}

TEST_F(Verify, StopsGrowingWhenMemoryRunsShort) {
  device_.device_facts.memory_bytes = 1 << 20;
  create();
  ASSERT_TRUE(memory_->grow(64).has_value());
  // A set is 264 KiB with its bands; after two of them and the reference's output 350 KiB are left, of which a quarter
  // stays free.
  EXPECT_EQ(memory_->sets(), 2);
  EXPECT_EQ(reason("right"), "ok");
}

TEST_F(Verify, RestoresWhatIsUpdatedInPlaceBeforeEachRun) {
  plan_.tensors = {tensor("x", Role::kIn, {kN}), tensor("out", Role::kInOut, {kN})};
  add("reference", [](const float* x, float* out) {
    for (std::int64_t i = 0; i < kN; ++i) out[i] += x[i];
  });
  device_.kernels["add"] = device_.kernels["reference"];
  create();
  EXPECT_TRUE(memory_->updates_in_place());
  EXPECT_EQ(reason("add"), "ok");
  EXPECT_EQ(reason("add"), "ok") << "without restoring, the second run adds x twice";
  EXPECT_EQ(reason("nothing").substr(0, 36), "out: 1024 of 1024 elements differ, f");
}

TEST_F(Verify, FindsAWriteBetweenRows) {
  model::TensorPlan out = tensor("out", Role::kOut, {8, 100});
  out.strides = {128, 1};
  out.offset = 3;
  out.storage = 3 + 7 * 128 + 100;
  plan_.tensors = {tensor("x", Role::kIn, {kN}), out};
  const auto rows = [](float* to, std::int64_t columns) {
    for (std::int64_t i = 0; i < 8; ++i) std::fill(to + i * 128, to + i * 128 + columns, 2.0f);
  };
  add("reference", [rows](const float*, float* to) { rows(to, 100); });
  add("rows", [rows](const float*, float* to) { rows(to, 100); });
  add("wide", [rows](const float*, float* to) { rows(to, 102); });
  add("short", [rows](const float*, float* to) { rows(to, 99); });
  create();
  EXPECT_EQ(reason("rows"), "ok");
  EXPECT_EQ(reason("short"), "out: 8 of 800 elements never written, first at [0, 99]");
  EXPECT_EQ(reason("wide"),
            "out: 14 elements written that the reference leaves alone, first storage element 103, which no index "
            "reaches; wrote outside out: byte 0 past its end");
}

TEST_F(Verify, GuardsABufferWhoseEndIsNotAligned) {
  plan_.tensors = {tensor("x", Role::kIn, {kN}), tensor("out", Role::kOut, {1001}, model::DType::kI8)};
  const auto bytes = [](float* out, std::int64_t n) { std::memset(out, 1, static_cast<std::size_t>(n)); };
  add("reference", [bytes](const float*, float* out) { bytes(out, 1001); });
  add("bytes", [bytes](const float*, float* out) { bytes(out, 1001); });
  add("two_more", [bytes](const float*, float* out) {
    bytes(out, 1001);
    reinterpret_cast<char*>(out)[1002] = 1;
  });
  add("far", [bytes](const float*, float* out) {
    bytes(out, 1001);
    reinterpret_cast<char*>(out)[1001 + 300] = 1;
  });
  create();
  EXPECT_EQ(reason("bytes"), "ok");
  EXPECT_EQ(reason("two_more"), "wrote outside out: byte 1 past its end");
  EXPECT_EQ(reason("far"), "wrote outside out: byte 300 past its end");
  EXPECT_EQ(reason("bytes"), "ok");
}

TEST_F(Verify, PoisonsScratchAndZeroesWhatAsksForIt) {
  device_.kernels["peek"] = [](const KernelArgs& args) {
    const auto* x = argument<const float*>(args, 0);
    auto* out = argument<float*>(args, 1);
    auto* scratch = argument<float*>(args, 2);
    fill(x, out, 0, kN);
    out[0] += scratch[0];
    scratch[0] = 0.0f;
  };
  create();
  model::VariantPlan plan;
  plan.launches = {launch_of("peek", {"x", "out", "partial"})};
  plan.scratch = {tensor("partial", Role::kScratch, {16})};
  const auto poisoned = load_variant(*memory_, 0, plan);
  ASSERT_TRUE(poisoned.has_value());
  for (int i = 0; i < 2; ++i) {
    const auto report = run_and_inspect(*memory_, *poisoned, 0);
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->reason.substr(0, 50), "out: 1 of 1024 elements differ, first at [0]: nan,") << report->reason;
  }
  plan.scratch[0].init.kind = model::InitKind::kZeros;
  const auto zeroed = load_variant(*memory_, 0, plan);
  ASSERT_TRUE(zeroed.has_value());
  EXPECT_TRUE(run_and_inspect(*memory_, *zeroed, 0)->ok);
}

TEST_F(Verify, NamesScratchThatIsOverrun) {
  device_.kernels["spill"] = [](const KernelArgs& args) {
    fill(argument<const float*>(args, 0), argument<float*>(args, 1), 0, kN);
    argument<float*>(args, 2)[16] = 1.0f;
  };
  create();
  model::VariantPlan plan;
  plan.launches = {launch_of("spill", {"x", "out", "partial"})};
  plan.scratch = {tensor("partial", Role::kScratch, {16})};
  const auto variant = load_variant(*memory_, 0, plan);
  ASSERT_TRUE(variant.has_value());
  EXPECT_EQ(run_and_inspect(*memory_, *variant, 0)->reason, "wrote outside scratch partial: byte 0 past its end");
}

}  // namespace
}  // namespace ktune::verify
