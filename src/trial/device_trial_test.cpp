#include "trial/device_trial.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "trial/test_plans.h"
#include "verify/test_device.h"

// A trial on real memory, without a session: what `ktune run` and the counting process rely on.

namespace ktune::trial {
namespace {

using model::Role;
using verify::argument;
using verify::KernelArgs;

constexpr std::int64_t kTrialElements = 256;

/// Counts launches, and plays hardware counters.
class CountingDevice : public verify::TestDevice {
 public:
  int launches = 0;
  bool counts = true;

  model::Status launch(const device::LaunchSequence& sequence) override {
    ++launches;
    return TestDevice::launch(sequence);
  }
  model::Result<device::DramTraffic> traffic(const device::LaunchSequence& sequence) override {
    if (!counts) return TestDevice::traffic(sequence);
    if (const model::Status done = launch(sequence); !done) return tl::unexpected(done.error());
    return device::DramTraffic{100, 50};
  }
};

class DeviceTrial : public testing::Test {
 protected:
  DeviceTrial() : plan_(vector_problem("op", kTrialElements)) {
    device_.kernels["op_reference"] = [](const KernelArgs& args) { run(args, false); };
  }
  /// out[i] += x[i], or out[i] = x[i].
  static void run(const KernelArgs& args, bool add) {
    const auto* x = argument<const float*>(args, 0);
    auto* out = argument<float*>(args, 1);
    for (std::int64_t i = 0; i < kTrialElements; ++i) out[i] = (add ? out[i] : 0.0f) + x[i];
  }
  Trial& load(const std::string& kernel) {
    if (!problem_) problem_ = std::move(*TrialProblem::set_up(device_, plan_, {}));
    trial_ = std::move(*Trial::load(*problem_, vector_variant(kernel, "A=1", kTrialElements), {}));
    return *trial_;
  }
  /// A kernel that is right at its first launch only.
  void add_lazy_kernel() {
    device_.kernels["lazy"] = [worked = false](const KernelArgs& args) mutable {
      if (!std::exchange(worked, true)) run(args, false);
    };
  }
  static measure::Request samples(int count) {
    measure::Request request;
    request.samples = count;
    return request;
  }

  CountingDevice device_;
  model::ProblemPlan plan_;
  std::unique_ptr<TrialProblem> problem_;
  std::unique_ptr<Trial> trial_;
};

TEST_F(DeviceTrial, FindsOutputsThatOnlyFurtherLaunchesGetWrong) {
  const std::string wrong = "out: 256 of 256 elements never written, first at [0]";
  add_lazy_kernel();
  Trial& timed = load("lazy");
  ASSERT_TRUE(timed.verify()->ok);
  EXPECT_EQ(timed.measure(samples(5)).error().reason, "after timing: " + wrong);
  EXPECT_FALSE(timed.is_verified());
  add_lazy_kernel();
  Trial& launched = load("lazy");
  ASSERT_TRUE(launched.verify()->ok);
  const model::Status bare = launched.launch(3);
  EXPECT_EQ(bare.error().outcome, model::Outcome::kWrongResult);
  EXPECT_EQ(bare.error().reason, "after further launches: " + wrong);
  add_lazy_kernel();
  Trial& evicted = load("lazy");
  ASSERT_TRUE(evicted.verify()->ok);
  EXPECT_EQ(evicted.launch_evicted(3, {}).error().reason, "after further launches: " + wrong);
  add_lazy_kernel();
  Trial& counted = load("lazy");
  ASSERT_TRUE(counted.verify()->ok);
  EXPECT_EQ(counted.count_traffic().error().reason, "after counting: " + wrong);
}

TEST_F(DeviceTrial, LaunchesAsOftenAsItIsTold) {
  device_.kernels["copy"] = [](const KernelArgs& args) { run(args, false); };
  Trial& trial = load("copy");
  device_.launches = 0;
  ASSERT_TRUE(trial.verify()->ok);
  EXPECT_EQ(device_.launches, 1);
  EXPECT_TRUE(trial.launch(7));
  EXPECT_EQ(device_.launches, 8);
  EXPECT_TRUE(trial.launch_evicted(1, {})) << "the set that was not launched on is not looked at";
  EXPECT_EQ(device_.launches, 9);
  EXPECT_EQ(trial.count_traffic()->read, 100);
}

TEST_F(DeviceTrial, WarmsUpForLongerOnlyOnceAProblem) {
  device_.kernels["copy"] = [](const KernelArgs& args) { run(args, false); };
  const auto launches_of_measure = [&](Trial& trial) {
    EXPECT_TRUE(trial.verify()->ok);
    device_.launches = 0;
    EXPECT_TRUE(trial.measure(samples(1)));
    return device_.launches;
  };
  EXPECT_GT(launches_of_measure(load("copy")), 3);
  EXPECT_EQ(launches_of_measure(load("copy")), 3) << "one on each of two sets, and the sample";
  trial_.reset();
  problem_.reset();
  EXPECT_GT(launches_of_measure(load("copy")), 3) << "another problem's clocks may be down again";
}

TEST_F(DeviceTrial, RestoresWhatItUpdatedInPlaceWhenItGoes) {
  plan_.tensors[1].role = Role::kInOut;
  std::set<float*> outs;
  device_.kernels["op_reference"] = [](const KernelArgs& args) { run(args, true); };
  std::optional<float> first;
  device_.kernels["add"] = [&](const KernelArgs& args) {
    auto* out = argument<float*>(args, 1);
    outs.insert(out);
    if (!first) first = out[0];
    run(args, true);
  };
  Trial& trial = load("add");
  ASSERT_TRUE(trial.verify()->ok);
  ASSERT_TRUE(trial.measure(samples(5)));
  ASSERT_EQ(outs.size(), 2U);
  for (const float* out : outs) EXPECT_NE(out[0], *first) << "the kernel wrote there";
  trial_.reset();
  for (const float* out : outs) EXPECT_EQ(out[0], *first);
}

TEST_F(DeviceTrial, PoisonsItsOutputsWhenItGoes) {
  float* out = nullptr;
  device_.kernels["copy"] = [&](const KernelArgs& args) {
    out = argument<float*>(args, 1);
    run(args, false);
  };
  ASSERT_TRUE(load("copy").verify()->ok);
  const float written = out[3];
  trial_.reset();
  EXPECT_NE(out[3], written) << "the next variant must not find results in its outputs";
}

TEST_F(DeviceTrial, SaysWhenTheProcessMustEnd) {
  float* results = nullptr;
  device_.kernels["op_reference"] = [&results](const KernelArgs& args) {
    results = argument<float*>(args, 1);
    run(args, false);
  };
  device_.kernels["vandal"] = [&results](const KernelArgs& args) {
    run(args, false);
    results[0] = 42.0f;
  };
  Trial& trial = load("vandal");
  EXPECT_FALSE(problem_->is_damaged());
  EXPECT_FALSE(trial.verify()->ok);
  EXPECT_TRUE(problem_->is_damaged());
}

TEST_F(DeviceTrial, SaysWhyATimerOrACounterIsNotToBeHad) {
  device_.kernels["copy"] = [](const KernelArgs& args) { run(args, false); };
  EXPECT_EQ(timer_for(device_, {}), model::Timer::kHost);
  EXPECT_EQ(timer_for(device_, model::Timer::kCupti).error().reason,
            "the timer 'cupti' is not available on this device; it has: host (this device has no timer 'cupti')");
  EXPECT_EQ(check_timer(device_, model::Timer::kCupti).error().reason, "this device has no timer 'cupti'");
  EXPECT_TRUE(check_timer(device_, model::Timer::kHost));
  device_.counts = false;
  Trial& trial = load("copy");
  ASSERT_TRUE(trial.verify()->ok);
  EXPECT_EQ(trial.count_traffic().error().outcome, model::Outcome::kRejected);
}

TEST_F(DeviceTrial, GivesAllMemoryBack) {
  device_.kernels["copy"] = [](const KernelArgs& args) { run(args, false); };
  ASSERT_TRUE(load("copy").verify()->ok);
  EXPECT_GT(device_.used, 0);
  trial_.reset();
  problem_.reset();
  EXPECT_EQ(device_.used, 0);
}

}  // namespace
}  // namespace ktune::trial
