#include <gtest/gtest.h>

#include "trial/test_plans.h"
#include "trial/verb_server.h"
#include "verify/test_device.h"

// The worker's end on real memory: what happens to the bytes between verifying, timing and verifying again.

namespace ktune::trial {
namespace {

using model::Role;
using verify::argument;
using verify::KernelArgs;
using verify::TestDevice;

constexpr std::int64_t kElements = 256;

class VerbServerMemory : public testing::Test {
 protected:
  VerbServerMemory() {
    auto owned = std::make_unique<TestDevice>();
    device_ = owned.get();
    server_ = std::make_unique<VerbServer>(std::move(owned));
    plan_ = vector_problem("op", kElements);
  }
  /// out[i] += x[i], or out[i] = x[i].
  static void run(const KernelArgs& args, bool add) {
    const auto* x = argument<const float*>(args, 0);
    auto* out = argument<float*>(args, 1);
    for (std::int64_t i = 0; i < kElements; ++i) out[i] = (add ? out[i] : 0.0f) + x[i];
  }
  Json ask(const Json& request) { return Json::parse(server_->handle(request.dump())); }
  void load(const std::string& kernel) {
    const Json set = ask({{"verb", "problem"}, {"plan", plan_}, {"binary", model::KernelBinary{}}});
    ASSERT_EQ(set.value("ok", false), true) << set;
    const Json loaded = ask({{"verb", "load"},
                             {"variant", 1},
                             {"plan", vector_variant(kernel, "A=1", kElements)},
                             {"binary", model::KernelBinary{}}});
    ASSERT_EQ(loaded.value("ok", false), true) << loaded;
  }
  Json verify() { return ask({{"verb", "verify"}, {"variant", 1}}); }
  Json measure() {
    measure::Request request;
    request.samples = 5;
    return ask({{"verb", "measure"}, {"variant", 1}, {"request", request}});
  }

  TestDevice* device_ = nullptr;
  std::unique_ptr<VerbServer> server_;
  model::ProblemPlan plan_;
};

TEST_F(VerbServerMemory, MeasuresAnOpThatUpdatesInPlaceAndVerifiesItOnFreshValues) {
  plan_.tensors[1].role = Role::kInOut;
  device_->kernels["op_reference"] = device_->kernels["add"] = [](const KernelArgs& args) { run(args, true); };
  load("add");
  EXPECT_EQ(verify().at("report").at("ok"), true);
  EXPECT_EQ(measure().value("ok", false), true);
  EXPECT_EQ(measure().value("ok", false), true);
}

TEST_F(VerbServerMemory, RotatesThroughSetsAtOtherAddresses) {
  std::set<const float*> seen;
  device_->kernels["op_reference"] = [](const KernelArgs& args) { run(args, false); };
  device_->kernels["spy"] = [&seen](const KernelArgs& args) {
    seen.insert(argument<const float*>(args, 0));
    run(args, false);
  };
  load("spy");
  verify();
  EXPECT_EQ(seen.size(), 1u);
  EXPECT_EQ(measure().value("ok", false), true);
  EXPECT_EQ(seen.size(), 2u);
}

TEST_F(VerbServerMemory, FindsAVariantThatStopsWorkingAfterItWasVerified) {
  int launches = 0;
  device_->kernels["op_reference"] = [](const KernelArgs& args) { run(args, false); };
  device_->kernels["lazy"] = [&launches](const KernelArgs& args) {
    if (++launches <= 2) run(args, false);  // those that verify it
  };
  load("lazy");
  EXPECT_EQ(verify().at("report").at("ok"), true);
  EXPECT_EQ(measure().at("failure").at("reason"),
            "launch 1 of the timed ones: out: 256 of 256 elements never written, first at [0]");
}

TEST_F(VerbServerMemory, PoisonsTheOutputsBeforeTheyAreTimedAgain) {
  bool works = true;
  device_->kernels["op_reference"] = [](const KernelArgs& args) { run(args, false); };
  device_->kernels["tired"] = [&works](const KernelArgs& args) {
    if (works) run(args, false);
  };
  load("tired");
  verify();
  EXPECT_EQ(measure().value("ok", false), true);
  works = false;
  EXPECT_EQ(measure().at("failure").at("reason"),
            "launch 1 of the timed ones: out: 256 of 256 elements never written, first at [0]");
}

TEST_F(VerbServerMemory, FindsAVariantThatIsWrongOnOneOfTheSetsOnly) {
  const float* first = nullptr;
  device_->kernels["op_reference"] = [](const KernelArgs& args) { run(args, false); };
  device_->kernels["picky"] = [&first](const KernelArgs& args) {
    const auto* x = argument<const float*>(args, 0);
    if (first == nullptr) first = x;
    run(args, false);
    if (x != first) argument<float*>(args, 1)[7] = 100.0f;
  };
  load("picky");
  EXPECT_EQ(verify().at("report").at("ok"), true);
  const std::string reason = measure().at("failure").at("reason").get<std::string>();
  EXPECT_TRUE(
      reason.starts_with("launch 2 of the timed ones: out: 1 of 256 elements differ, first at [7]: 100, expected "))
      << reason;
}

TEST_F(VerbServerMemory, EndsAfterDamageThatCannotBePutBack) {
  float* results = nullptr;
  device_->kernels["op_reference"] = [&results](const KernelArgs& args) {
    if (results == nullptr) results = argument<float*>(args, 1);
    run(args, false);
  };
  device_->kernels["vandal"] = [&results](const KernelArgs& args) {
    run(args, false);
    results[0] = 42.0f;
  };
  load("vandal");
  const Json reply = verify();
  EXPECT_EQ(reply.at("report").at("ok"), false);
  EXPECT_EQ(reply.at("bye"), true);
  EXPECT_TRUE(server_->ended());
}

TEST_F(VerbServerMemory, GivesAllMemoryBack) {
  plan_.tensors[1].role = Role::kInOut;
  device_->kernels["op_reference"] = device_->kernels["add"] = [](const KernelArgs& args) { run(args, true); };
  load("add");
  verify();
  measure();
  EXPECT_GT(device_->used, 0);
  const Json refused =
      ask({{"verb", "problem"}, {"plan", vector_problem("none", 8)}, {"binary", model::KernelBinary{}}});
  EXPECT_EQ(refused.at("failure").at("reason"), "no kernel none_reference");
  EXPECT_EQ(device_->used, 0);
}

}  // namespace
}  // namespace ktune::trial
