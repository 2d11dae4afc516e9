#include "trial/device_trial.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

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
  model::Result<device::DramTraffic> traffic(const device::TimedCall& call) override {
    if (!counts) return TestDevice::traffic(call);
    if (const model::Status done = launch_fresh(*this, call); !done) return tl::unexpected(done.error());
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
  /// A kernel that is right at its first launches only: two of them verify it.
  void add_lazy_kernel(int right = 2) {
    device_.kernels["lazy"] = [right, launch = 0](const KernelArgs& args) mutable {
      if (launch++ < right) run(args, false);
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
  EXPECT_EQ(timed.measure(samples(5)).error().reason, "launch 1 of the timed ones: " + wrong);
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
  EXPECT_EQ(evicted.launch_evicted(3, {}).error().reason, "launch 1 of the timed ones: " + wrong);
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
  EXPECT_EQ(device_.launches, 2);
  EXPECT_TRUE(trial.launch(7));
  EXPECT_EQ(device_.launches, 9);
  device_.launches = 0;
  EXPECT_TRUE(trial.launch_evicted(1, {})) << "the set that was not launched on is not looked at";
  EXPECT_EQ(device_.launches, 3) << "the reference ran twice on a further set";
  EXPECT_EQ(trial.count_traffic()->read, 100);
}

TEST_F(DeviceTrial, WarmsUpForLongerOnlyOnceAProblem) {
  device_.kernels["copy"] = [](const KernelArgs& args) { run(args, false); };
  const auto launches_of_measure = [&](Trial& trial) {
    EXPECT_TRUE(trial.verify()->ok);
    EXPECT_TRUE(trial.launch_evicted(1, {}));  // makes the second set
    device_.launches = 0;
    EXPECT_TRUE(trial.measure(samples(2)));
    return device_.launches;
  };
  EXPECT_GT(launches_of_measure(load("copy")), 5);
  EXPECT_EQ(launches_of_measure(load("copy")), 5) << "one on each of two sets, two samples, one on other values";
  trial_.reset();
  problem_.reset();
  EXPECT_GT(launches_of_measure(load("copy")), 5) << "another problem's clocks may be down again";
}

TEST_F(DeviceTrial, FindsALaunchThatIsWrongWhicheverItIs) {
  for (const int wrong : {0, 1, 7, 18}) {
    int launch = -1000;
    device_.kernels["once"] = [&launch, wrong](const KernelArgs& args) {
      run(args, false);
      if (launch++ == wrong) argument<float*>(args, 1)[17] = 100.0f;
    };
    Trial& trial = load("once");
    ASSERT_TRUE(trial.verify()->ok);
    ASSERT_TRUE(trial.measure(samples(2)));  // warm from here on
    launch = -2;                             // one on each set warms up
    EXPECT_EQ(
        trial.measure(samples(20)).error().reason.substr(0, 80),
        fmt::format("launch {} of the timed ones: out: 1 of 256 elements differ, first at [17]: 100, expected 0.5",
                    wrong + 1)
            .substr(0, 80));
  }
}

TEST_F(DeviceTrial, LeavesNoResultForAKernelToFind) {
  int skipped = 0;
  device_.kernels["counts"] = [&skipped](const KernelArgs& args) {
    if (argument<const float*>(args, 1)[0] == argument<const float*>(args, 0)[0]) ++skipped;
    run(args, false);
  };
  Trial& trial = load("counts");
  ASSERT_TRUE(trial.verify()->ok);
  ASSERT_TRUE(trial.measure(samples(20)));
  EXPECT_EQ(skipped, 0) << "no launch, verified or timed, finds its result in its output";
}

TEST_F(DeviceTrial, FindsAKernelThatRemembersTheInputsItSawFirst) {
  device_.kernels["remembers"] = [first = std::vector<float>()](const KernelArgs& args) mutable {
    const auto* x = argument<const float*>(args, 0);
    if (first.empty()) first.assign(x, x + kTrialElements);
    std::copy(first.begin(), first.end(), argument<float*>(args, 1));
  };
  Trial& trial = load("remembers");
  ASSERT_TRUE(trial.verify()->ok) << "one set cannot show it";
  EXPECT_EQ(trial.measure(samples(20)).error().reason.substr(0, 56),
            "launch 2 of the timed ones: out: 256 of 256 elements dif");
}

TEST_F(DeviceTrial, GivesEachTimedLaunchFreshOperands) {
  plan_.tensors[1].role = Role::kInOut;
  device_.kernels["op_reference"] = [](const KernelArgs& args) { run(args, true); };
  std::vector<std::pair<float*, float>> found;  // each launch's output, and the first value that stood in it
  device_.kernels["add"] = [&](const KernelArgs& args) {
    auto* out = argument<float*>(args, 1);
    found.emplace_back(out, out[0]);
    run(args, true);
  };
  Trial& trial = load("add");
  ASSERT_TRUE(trial.verify()->ok);
  ASSERT_TRUE(trial.measure(samples(20)));
  const auto [last_out, last_value] = found.back();
  found.pop_back();
  const std::set<std::pair<float*, float>> different(found.begin(), found.end());
  EXPECT_EQ(different.size(), 2U) << "two sets, each with the same first value at each launch";
  EXPECT_FALSE(different.contains({last_out, last_value})) << "but the last launch is on other values";
  EXPECT_NE(last_out[0], last_value) << "the kernel wrote there";
  EXPECT_TRUE(trial.launch(5)) << "five launches on one set add five times, and then one on fresh values is looked at";
  trial_.reset();
  EXPECT_TRUE(different.contains({last_out, last_out[0]})) << "restored when it goes";
}

TEST_F(DeviceTrial, FindsAKernelThatRemembersResultsByAddress) {
  device_.kernels["remembers"] = [results =
                                      std::map<const float*, std::vector<float>>()](const KernelArgs& args) mutable {
    const auto* x = argument<const float*>(args, 0);
    auto* out = argument<float*>(args, 1);
    if (const auto known = results.find(x); known != results.end()) {
      std::copy(known->second.begin(), known->second.end(), out);
      return;
    }
    run(args, false);
    results[x].assign(out, out + kTrialElements);
  };
  Trial& trial = load("remembers");
  ASSERT_TRUE(trial.verify()->ok);
  EXPECT_EQ(trial.measure(samples(20)).error().reason.substr(0, 67),
            "after timing, on new values: out: 256 of 256 elements differ, first");
}

TEST_F(DeviceTrial, CannotBeFasterThanTheMemory) {
  device_.kernels["copy"] = [](const KernelArgs& args) { run(args, false); };
  plan_.least_cold_us = 5.1;
  Trial& trial = load("copy");
  ASSERT_TRUE(trial.verify()->ok);
  const auto report = trial.measure(samples(20));  // each is 5 us
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().outcome, model::Outcome::kWrongResult);
  EXPECT_EQ(report.error().reason,
            "implausible: 5.00 µs, and at its datasheet's rate the memory needs 5.10 µs for what [cost] says is read, "
            "and written beyond L2; either it skips work, or [cost] counts bytes that need not move");
  measure::Request warm = samples(20);
  warm.cache_state = model::CacheState::kWarm;
  ASSERT_TRUE(trial.verify()->ok);
  EXPECT_TRUE(trial.measure(warm)) << "a warm one reads from L2";
  trial_.reset();
  problem_.reset();
  plan_.least_cold_us = 4.9;
  Trial& slower = load("copy");
  ASSERT_TRUE(slower.verify()->ok);
  EXPECT_TRUE(slower.measure(samples(20)));
}

TEST_F(DeviceTrial, SaysHowRunsDifferWhereTheSpecAllowsIt) {
  plan_.may_vary = true;
  device_.kernels["drifts"] = [launch = 0](const KernelArgs& args) mutable {
    run(args, false);
    if (++launch == 2) argument<float*>(args, 1)[3] *= 1.0f + 1e-6f;
  };
  Trial& trial = load("drifts");
  ASSERT_TRUE(trial.verify()->ok);
  const auto report = trial.measure(samples(20));
  ASSERT_TRUE(report);
  ASSERT_FALSE(report->warnings.empty());
  EXPECT_EQ(report->warnings.back(),
            "nondeterministic: two runs over the same inputs differ in 1 of 256 elements of out; take another variant "
            "where results must repeat");
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
    if (results == nullptr) results = argument<float*>(args, 1);
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
