#include "measure/measure.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include <filesystem>
#include <numeric>

#include "base/files.h"
#include "device/fake/fake_device.h"
#include "measure/noise.h"

namespace ktune::measure {
namespace {

using model::CacheState;
using model::Timer;

TEST(ChooseTimer, TakesTheFirstForAuto) {
  const std::vector<Timer> offered{Timer::kEvents, Timer::kCupti};
  EXPECT_EQ(choose_timer({}, offered), Timer::kEvents);
  EXPECT_EQ(choose_timer(Timer::kCupti, offered), Timer::kCupti);
}

TEST(ChooseTimer, NeverFallsBack) {
  const std::vector<Timer> offered{Timer::kEvents, Timer::kGraph};
  const auto timer = choose_timer(Timer::kCupti, offered);
  ASSERT_FALSE(timer.has_value());
  EXPECT_EQ(timer.error().reason, "the timer 'cupti' is not available on this device; it has: events, graph");
  EXPECT_FALSE(choose_timer({}, {}).has_value());
}

TEST(SampleCount, FillsTheBudgetWithinItsLimits) {
  Request request;
  request.budget_ms = 20;
  request.min_samples = 20;
  request.max_samples = 1000;
  EXPECT_EQ(sample_count(request, 100.0), 200);
  EXPECT_EQ(sample_count(request, 1.0), 1000);
  EXPECT_EQ(sample_count(request, 1e6), 20);
  EXPECT_EQ(sample_count(request, 0.0), 1000);
  request.samples = 7;
  EXPECT_EQ(sample_count(request, 100.0), 7);
}

TEST(RotationSets, CoverFourTimesL2WhereNothingEvicts) {
  model::DeviceFacts facts;
  facts.kind = "cuda";
  facts.l2_bytes = 60 << 20;
  EXPECT_EQ(rotation_sets(facts, 8 << 20, CacheState::kCold, Timer::kEvents), 2);
  EXPECT_EQ(rotation_sets(facts, 8 << 20, CacheState::kDirty, Timer::kCupti), 2);
  EXPECT_EQ(rotation_sets(facts, 8 << 20, CacheState::kWarm, Timer::kEvents), 30);
  EXPECT_EQ(rotation_sets(facts, 8 << 20, CacheState::kCold, Timer::kGraph), 30);
  EXPECT_EQ(rotation_sets(facts, 1 << 10, CacheState::kWarm, Timer::kEvents), 64) << "no more than 64";
  EXPECT_EQ(rotation_sets(facts, 256 << 20, CacheState::kWarm, Timer::kEvents), 3);
  EXPECT_EQ(rotation_sets(facts, 300 << 20, CacheState::kWarm, Timer::kEvents), 3) << "no more than 1 GiB";
  EXPECT_EQ(rotation_sets(facts, 600 << 20, CacheState::kWarm, Timer::kEvents), 2) << "but two at least";
  EXPECT_EQ(rotation_sets(facts, std::int64_t{9} << 30, CacheState::kCold, Timer::kEvents), 2);
  EXPECT_EQ(rotation_sets(facts, 20 << 20, CacheState::kCold, Timer::kGraph), 24) << "a graph is long";
  facts.kind = "cpu";
  EXPECT_EQ(rotation_sets(facts, 1 << 10, CacheState::kWarm, Timer::kHost), 3);
}

TEST(Summarize, KnowsItsFiguresOfTheNumbersOneToHundred) {
  model::Samples samples;
  samples.time_us.resize(100);
  std::iota(samples.time_us.rbegin(), samples.time_us.rend(), 1.0);
  const model::TimingSummary summary = summarize(samples);
  EXPECT_EQ(summary.n, 100);
  EXPECT_DOUBLE_EQ(summary.time_us, 50.5);
  EXPECT_DOUBLE_EQ(summary.mean_us, 50.5);
  EXPECT_DOUBLE_EQ(summary.min_us, 1.0);
  EXPECT_DOUBLE_EQ(summary.p10_us, 10.9);
  EXPECT_DOUBLE_EQ(summary.p90_us, 90.1);
  EXPECT_DOUBLE_EQ(summary.ci_low_us, 40.0);  // binomial(100, 1/2): order statistics 40 and 61 cover 96.5 %
  EXPECT_DOUBLE_EQ(summary.ci_high_us, 61.0);
  EXPECT_NEAR(summary.ci_level, 0.9648, 1e-4);
}

TEST(Summarize, TrimsOutliersFromTheMeanOnly) {
  const model::TimingSummary summary = summarize({{10, 10, 10, 10, 10, 10, 10, 10, 11, 1000}, {}, {}});
  EXPECT_DOUBLE_EQ(summary.mean_us, 10.0);
  EXPECT_DOUBLE_EQ(summary.time_us, 10.0);
}

TEST(Summarize, OfNothingIsNothing) {
  const model::TimingSummary summary = summarize({});
  EXPECT_EQ(summary.n, 0);
  EXPECT_EQ(summary.time_us, 0.0);
}

std::vector<std::string> keys(const std::vector<std::string>& warnings) {
  std::vector<std::string> found;
  for (const std::string& warning : warnings) found.push_back(warning.substr(0, warning.find(':')));
  return found;
}

TEST(Noise, IsSilentForQuietSamples) {
  const model::Samples samples{std::vector<double>(50, 20.0), Timer::kEvents, CacheState::kCold};
  EXPECT_TRUE(noise_warnings(samples, {}, {}).empty());
}

TEST(Noise, SaysWhatWasSeenAndWhatToDo) {
  model::Samples samples{{}, Timer::kEvents, CacheState::kCold};
  for (int i = 0; i < 20; ++i) samples.time_us.push_back(20.0 + (i % 2) * 4.0);
  model::MachineState before;
  before.sm_clock_mhz = 1980;
  model::MachineState after = before;
  after.sm_clock_mhz = 1500;
  after.throttle_bits = 0x24;
  after.other_processes = 2;
  const std::vector<std::string> warnings = noise_warnings(samples, before, after);
  ASSERT_EQ(keys(warnings), (std::vector<std::string>{"wide-interval", "clock-changed", "throttled", "other-process"}));
  EXPECT_EQ(warnings[0],
            "wide-interval: the interval of the median is 18 % wide; take more samples, or stop what else runs on this "
            "machine");
  EXPECT_EQ(warnings[1],
            "clock-changed: the SM clock went from 1980 to 1500 MHz during the samples; warm up for longer, or lock "
            "the clocks");
  EXPECT_EQ(warnings[2].substr(0, 60), "throttled: the device held its clock down (reasons 0x24); le");
  EXPECT_EQ(warnings[3].substr(0, 57), "other-process: 2 other processes compute on this device; ");
}

TEST(Noise, KnowsEachTimersLimit) {
  const auto warn = [](Timer timer, double time_us) {
    return !noise_warnings({std::vector<double>(50, time_us), timer, CacheState::kCold}, {}, {}).empty();
  };
  EXPECT_TRUE(warn(Timer::kEvents, 4.9));
  EXPECT_FALSE(warn(Timer::kEvents, 5.1));
  EXPECT_FALSE(warn(Timer::kCupti, 2.0));
  EXPECT_TRUE(warn(Timer::kCupti, 0.9));
  EXPECT_FALSE(warn(Timer::kScript, 0.01));
}

TEST(Noise, IgnoresIdleAndUnknownClocks) {
  const model::Samples samples{std::vector<double>(50, 20.0), Timer::kEvents, CacheState::kCold};
  model::MachineState after;
  after.sm_clock_mhz = 1980;
  after.throttle_bits = 0x1;  // idle is no slowdown
  EXPECT_TRUE(noise_warnings(samples, {}, after).empty());
}

TEST(Noise, SaysWhenThereAreTooFewSamplesForAnInterval) {
  EXPECT_EQ(keys(noise_warnings({{20, 30, 40}, Timer::kHost, CacheState::kCold}, {}, {})),
            std::vector<std::string>{"few-samples"});
}

TEST(Noise, HasOneRemedyAKind) {
  for (const NoiseRow& row : noise_table()) EXPECT_FALSE(row.remedy.empty()) << row.key;
}

class TakeSamples : public testing::Test {
 protected:
  std::unique_ptr<device::Device> open(const std::string& script) {
    const auto path =
        std::filesystem::path(testing::TempDir()) / ("measure_test." + std::to_string(getpid()) + ".json");
    write_file(path, script);
    auto device = device::open_fake_device(path.string());
    device->announce("op", "N=1", "A=1");
    device::PreparedLaunch launch;
    launch.module = *device->load({});
    rotation_ = {{{launch}, {}, {}}};
    std::filesystem::remove(path);
    return device;
  }
  std::vector<device::TimedCall> rotation_;
};

TEST_F(TakeSamples, TakesAsManyAsFitTheBudget) {
  const auto device = open(R"({"default": {"time_us": 100}})");
  Request request;
  request.budget_ms = 20;
  const auto report = take_samples(*device, rotation_, request);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->samples.time_us, std::vector<double>(200, 100.0));
  EXPECT_EQ(report->samples.timer, Timer::kScript);
  EXPECT_EQ(report->samples.cache_state, CacheState::kCold);
}

TEST_F(TakeSamples, TakesExactlyWhatIsAskedFor) {
  const auto device = open(R"({"default": {"times_us": [1, 2, 3]}})");
  Request request;
  request.samples = 4;
  request.cache_state = CacheState::kWarm;
  const auto report = take_samples(*device, rotation_, request);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->samples.time_us, (std::vector<double>{1, 2, 3, 1})) << "no estimate before them";
  EXPECT_EQ(report->samples.cache_state, CacheState::kWarm);
}

TEST_F(TakeSamples, ReportsTheMachineAroundTheSamples) {
  const auto device = open(R"({"states": [{"sm_clock_mhz": 1900}, {"sm_clock_mhz": 1200}]})");
  const auto report = take_samples(*device, rotation_, {});
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->before.sm_clock_mhz, 1900);
  EXPECT_EQ(report->after.sm_clock_mhz, 1200);
  EXPECT_EQ(keys(report->warnings), std::vector<std::string>{"clock-changed"});
}

TEST_F(TakeSamples, FailsForATimerTheDeviceLacks) {
  const auto device = open("{}");
  Request request;
  request.timer = Timer::kCupti;
  const auto report = take_samples(*device, rotation_, request);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().reason, "the timer 'cupti' is not available on this device; it has: script");
}

TEST_F(TakeSamples, WarmUpLaunchesEachOfTheRotationEvenWithoutTime) {
  const auto device = open(R"({"trials": [{"outcome": "LaunchFailed"}]})");
  EXPECT_FALSE(warm_up(*device, rotation_, 0.0).has_value());
}

}  // namespace
}  // namespace ktune::measure
