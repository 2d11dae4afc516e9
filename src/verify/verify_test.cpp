#include "verify/verify_fixture.h"

namespace ktune::verify {
namespace {

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
  const device::DevicePtr results = memory_->set(0).reference().find("out")->buffer.base;
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

TEST_F(Verify, RefusesAnOutputThatIsRead) {
  plan_.tensors[1].dtype = model::DType::kI32;
  device_.kernels["reference"] = [](const KernelArgs& args) {
    for (std::int64_t i = 0; i < kN; ++i) argument<std::int32_t*>(args, 1)[i] = static_cast<std::int32_t>(i);
  };
  device_.kernels["reads"] = [](const KernelArgs& args) {
    auto* out = argument<std::int32_t*>(args, 1);
    for (std::int64_t i = 0; i < kN; ++i) out[i] = static_cast<std::int32_t>(i) + (out[i] % 2 == 0 ? 1 : 0);
  };
  create();
  EXPECT_TRUE(reason("reads").starts_with(
      "right in one run, wrong in the next: it keeps something from launch to launch, or reads memory that it must "
      "not (an output that it reads is role = \"inout\"): out: 1024 of 1024 elements differ, first at [0]: 1,"))
      << reason("reads");
}

TEST_F(Verify, FindsAOneByteOutputThatIsHalfWritten) {
  // The first pattern's bytes are right by chance: the second shows that nothing wrote them.
  plan_.tensors = {tensor("x", Role::kIn, {kN}), tensor("out", Role::kOut, {kN}, model::DType::kU8)};
  const auto value = [](std::int64_t i) { return static_cast<unsigned char>(i % 2 == 0 ? 0xf5 : 0x7f); };
  const auto bytes = [value](const KernelArgs& args, std::int64_t begin) {
    for (std::int64_t i = begin; i < kN; ++i) argument<unsigned char*>(args, 1)[i] = value(i);
  };
  device_.kernels["reference"] = [bytes](const KernelArgs& args) { bytes(args, 0); };
  device_.kernels["bytes"] = device_.kernels["reference"];
  device_.kernels["half"] = [bytes](const KernelArgs& args) { bytes(args, kN / 2); };
  create();
  EXPECT_EQ(reason("bytes"), "ok");
  EXPECT_NE(reason("half").find("out: 512 of 1024 elements"), std::string::npos) << reason("half");
  memory_.reset();
  device_.kernels["reference"] = device_.kernels["half"];
  EXPECT_EQ(create_failure(), "leaves 512 of 1024 elements of out unwritten");
}

TEST_F(Verify, FindsReadsOutsideAnInput) {
  add("reads_past", [](const float* x, float* out) {
    fill(x, out, 0, kN);
    out[kN - 1] = x[kN - 1] + 1.0f + 0.0f * x[kN];
  });
  add("reads_before", [](const float* x, float* out) {
    fill(x, out, 0, kN);
    out[0] = x[0] + 1.0f + 0.0f * x[-1];
  });
  add("largest", [](const float* x, float* out) {
    fill(x, out, 0, kN);
    out[5] = std::fmax(x[5] + 1.0f, x[kN + 3]);
  });
  create();
  EXPECT_EQ(reason("reads_past").substr(0, 49), "out: 1 of 1024 elements differ, first at [1023]: ");
  EXPECT_EQ(reason("reads_before").substr(0, 46), "out: 1 of 1024 elements differ, first at [0]: ");
  EXPECT_NE(reason("largest").find("out: 1 of 1024 elements differ, first at [5]: 6"), std::string::npos);
}

TEST_F(Verify, FindsResultsThatDifferBetweenTwoRuns) {
  add("drifts", [runs = 0](const float* x, float* out) mutable {
    fill(x, out, 0, kN);
    if (++runs % 2 == 0) out[7] = std::nextafter(out[7], 10.0f);
  });
  create();
  EXPECT_EQ(reason("drifts"),
            "nondeterministic: two runs over the same inputs differ in 1 of 1024 elements of out; `nondeterministic = "
            "true` under [verify] allows it");
  plan_.may_vary = true;
  create();
  const model::Result<Verification> allowed = run("drifts");
  EXPECT_TRUE(allowed->ok);
  EXPECT_EQ(allowed->varies, "1 of 1024 elements of out");
  EXPECT_EQ(run("right")->varies, "");
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
  out.trivial = true;
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
  plan_.tensors[1].trivial = true;
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
  auto poisoned = load_variant(*memory_, 0, plan);
  ASSERT_TRUE(poisoned.has_value());
  for (int i = 0; i < 2; ++i) {
    const auto report = run_and_inspect(*memory_, *poisoned);
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->reason.substr(0, 50), "out: 1 of 1024 elements differ, first at [0]: nan,") << report->reason;
  }
  plan.scratch[0].init.kind = model::InitKind::kZeros;
  auto zeroed = load_variant(*memory_, 0, plan);
  ASSERT_TRUE(zeroed.has_value());
  EXPECT_TRUE(run_and_inspect(*memory_, *zeroed)->ok);
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
  auto variant = load_variant(*memory_, 0, plan);
  ASSERT_TRUE(variant.has_value());
  EXPECT_EQ(run_and_inspect(*memory_, *variant)->reason, "wrote outside scratch partial: byte 0 past its end");
}

}  // namespace
}  // namespace ktune::verify
