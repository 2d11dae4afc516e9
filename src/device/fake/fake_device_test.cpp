#include "device/fake/fake_device.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include <string>

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "device/fake/script.h"

namespace ktune::device {
namespace {

using model::Outcome;

class FakeDevice : public testing::Test {
 protected:
  FakeDevice()
      : path_(std::filesystem::path(testing::TempDir()) / ("fake_device_test." + std::to_string(getpid()) + ".json")) {}
  ~FakeDevice() override { std::filesystem::remove(path_); }

  std::unique_ptr<Device> open(const std::string& script) {
    write_file(path_, script);
    return open_fake_device(path_.string());
  }
  std::string open_error(const std::string& script) {
    try {
      open(script);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_EQ(error.where(), path_.string());
      return error.message() + " | " + error.hint();
    }
    return "opened";
  }
  static model::Result<std::vector<double>> times(Device& device, const std::string& variant, int samples,
                                                  const std::string& op = "rmsnorm") {
    device.announce(op, "M=4096 N=1024 bf16", variant);
    const model::Result<ModuleId> module = device.load({});
    if (!module) return tl::unexpected(module.error());
    PreparedLaunch launch;
    launch.module = *module;
    if (const model::Status fits = device.check(launch); !fits) return tl::unexpected(fits.error());
    const std::vector<TimedCall> rotation{{{launch}, {}, {}}};
    if (const model::Status ran = device.launch(rotation[0].launches); !ran) return tl::unexpected(ran.error());
    auto timed = device.time(rotation, {samples, model::CacheState::kCold, model::Timer::kScript});
    if (!timed) return tl::unexpected(timed.error());
    return std::move(timed->time_us);
  }

  std::filesystem::path path_;
};

TEST_F(FakeDevice, HasFactsThatTheScriptMayOverride) {
  const auto device = open(R"({"facts": {"name": "Fake H200", "sm_count": 4}})");
  EXPECT_EQ(device->facts().name, "Fake H200");
  EXPECT_EQ(device->facts().sm_count, 4);
  EXPECT_EQ(device->facts().kind, "fake");
  EXPECT_EQ(device->facts().target, "fake");
  EXPECT_EQ(device->facts().smem_optin, 232448);
}

TEST_F(FakeDevice, PlaysTheFirstMatchAndTheDefaultElsewhere) {
  const auto device = open(R"({"default": {"time_us": 10}, "trials": [
    {"match": {"op": "rmsnorm", "problem": "M=4096", "variant": {"num_warps": 8}}, "time_us": 12.5},
    {"match": {"variant": {"num_warps": 8}}, "time_us": 1},
    {"match": {"variant": "BLOCK_SIZE=512,num_warps=4"}, "times_us": [3, 4, 5]},
    {"match": {"problem": "N=10[0-9]+ ", "variant": {"LOADER": "ldg"}}, "time_us": 7}]})");
  EXPECT_EQ(*times(*device, "BLOCK_SIZE=512,num_warps=8", 2), (std::vector<double>{12.5, 12.5}));
  EXPECT_EQ(*times(*device, "BLOCK_SIZE=512,num_warps=8", 1, "copy"), (std::vector<double>{1}));
  EXPECT_EQ(*times(*device, "BLOCK_SIZE=512,num_warps=4", 4), (std::vector<double>{3, 4, 5, 3}));
  EXPECT_EQ(*times(*device, "LOADER=ldg", 1), (std::vector<double>{7}));
  EXPECT_EQ(*times(*device, "num_warps=80", 1), (std::vector<double>{10}));
}

TEST_F(FakeDevice, AddsUpWhatEveryMatchAdds) {
  const auto device = open(R"({"default": {"time_us": 10}, "trials": [
    {"match": {"variant": {"A": 1}}, "add_us": 2},
    {"match": {"variant": {"B": 1}}, "add_us": 0.5}]})");
  EXPECT_EQ(times(*device, "A=1,B=1", 1)->at(0), 12.5);
  EXPECT_EQ(times(*device, "A=1,B=2", 1)->at(0), 12.0);
  EXPECT_EQ(times(*device, "A=2,B=2", 1)->at(0), 10.0);
}

TEST_F(FakeDevice, GivesTheSameSamplesForTheSameScriptSeedAndVariant) {
  const std::string script = R"({"seed": 7, "default": {"time_us": 10, "sd_us": 0.5}})";
  const auto one = open(script);
  const std::vector<double> first = *times(*one, "A=1", 100);
  const std::vector<double> other = *times(*one, "A=2", 100);
  const auto two = open(script);
  EXPECT_EQ(*times(*two, "A=2", 100), other) << "whatever was measured before";
  EXPECT_EQ(*times(*two, "A=1", 100), first);
  EXPECT_NE(first, other);
  const auto reseeded = open(R"({"seed": 8, "default": {"time_us": 10, "sd_us": 0.5}})");
  EXPECT_NE(*times(*reseeded, "A=1", 100), first);
  double sum = 0;
  double squares = 0;
  for (const double time : first) sum += time;
  for (const double time : first) squares += (time - sum / 100) * (time - sum / 100);
  EXPECT_NEAR(sum / 100, 10.0, 0.2);
  EXPECT_NEAR(squares / 99, 0.25, 0.12);
}

TEST_F(FakeDevice, FailsWhereTheScriptSays) {
  const auto device = open(R"({"trials": [
    {"match": {"variant": "A=1"}, "outcome": "Rejected", "reason": "too big"},
    {"match": {"variant": "A=2"}, "outcome": "CompileFailed"},
    {"match": {"variant": "A=3"}, "outcome": "LaunchFailed"},
    {"match": {"variant": "A=4"}, "outcome": "Sticky", "at": "time"}]})");
  const auto rejected = times(*device, "A=1", 1);
  EXPECT_EQ(rejected.error().outcome, Outcome::kRejected);
  EXPECT_EQ(rejected.error().reason, "too big");
  EXPECT_EQ(times(*device, "A=2", 1).error().outcome, Outcome::kCompileFailed);
  EXPECT_EQ(times(*device, "A=3", 1).error().outcome, Outcome::kLaunchFailed);
  EXPECT_EQ(times(*device, "A=5", 1)->size(), 1u);
  EXPECT_EQ(times(*device, "A=4", 1).error().outcome, Outcome::kCrashed);
  EXPECT_EQ(times(*device, "A=5", 1).error().outcome, Outcome::kCrashed) << "nothing works after a sticky fault";
}

TEST_F(FakeDevice, NeverPlaysAFailureForTheReference) {
  const auto device = open(R"({"trials": [{"outcome": "LaunchFailed"}]})");
  EXPECT_TRUE(times(*device, "", 1).has_value());
  EXPECT_FALSE(times(*device, "A=1", 1).has_value());
}

TEST_F(FakeDevice, CrashesForReal) {
  const auto device = open(R"({"trials": [{"outcome": "Crashed", "reason": "bang"}]})");
  EXPECT_EXIT(static_cast<void>(times(*device, "A=1", 1)), testing::KilledBySignal(SIGSEGV), "bang");
}

TEST_F(FakeDevice, CountsMemory) {
  const auto device = open(R"({"facts": {"memory_bytes": 1000}})");
  const DevicePtr block = *device->allocate(600);
  EXPECT_EQ(block % 256, 0u);
  EXPECT_EQ(device->free_memory(), 400);
  EXPECT_FALSE(device->allocate(600).has_value());
  device->release(block);
  EXPECT_TRUE(device->allocate(600).has_value());
}

TEST_F(FakeDevice, AnswersStatesInTurn) {
  const auto device = open(R"({"states": [{"sm_clock_mhz": 1980}, {"sm_clock_mhz": 1200, "other_processes": 1}]})");
  EXPECT_EQ(device->state().sm_clock_mhz, 1980);
  EXPECT_EQ(device->state().other_processes, 1);
  EXPECT_EQ(device->state().sm_clock_mhz, 1200);
}

TEST_F(FakeDevice, DiffersFromProcessToProcess) {
  const std::string counter = ::testing::TempDir() + "/" + std::to_string(getpid()) + ".processes";
  const std::string script =
      R"({"processes": {"counter": ")" + counter + R"(", "sd_us": 0.5, "sd_pct": 1}, "default": {"time_us": 100}})";
  std::vector<double> figures;
  for (int process = 0; process < 200; ++process) {
    const auto device = open(script);
    const auto pair = times(*device, "A=1", 2);
    EXPECT_EQ(pair->at(0), pair->at(1));  // within a process nothing varies
    figures.push_back(pair->at(0));
  }
  double mean = 0.0, square = 0.0;
  for (const double figure : figures) mean += figure / 200.0;
  for (const double figure : figures) square += (figure - mean) * (figure - mean) / 199.0;
  EXPECT_NEAR(mean, 100.0, 0.35);
  EXPECT_NEAR(std::sqrt(square), 1.5, 0.25);
  std::remove(counter.c_str());
}

TEST_F(FakeDevice, SaysWhatIsWrongWithAScript) {
  EXPECT_EQ(open_error(R"({"trails": []})"),
            "the fake device's script: unknown field \"trails\" in \"script\"; did you mean 'trials'? | known: facts, "
            "seed, timers, states, processes, default, trials, dram");
  EXPECT_TRUE(
      open_error(R"({"trials": [{"outcome": "Mesured"}]})")
          .starts_with("the fake device's script: \"outcome\" cannot be \"Mesured\"; did you mean 'Measured'?"));
  EXPECT_TRUE(
      open_error(R"({"trials": [{"match": {"varaint": 1}}]})")
          .starts_with("the fake device's script: unknown field \"varaint\" in \"match\"; did you mean 'variant'?"));
  EXPECT_EQ(open_error(R"({"trials": 5})"), "the fake device's script: \"trials\" must be a list | ");
  EXPECT_EQ(open_error(R"({"trials": [{"add_us": -100}]})"),
            "the fake device's script: \"add_us\" cannot be -100: it is time | ");
  EXPECT_EQ(open_error(R"({"default": {"sd_us": -1}})"), "the fake device's script: \"sd_us\" cannot be -1 | ");
  EXPECT_EQ(open_error(R"({"facts": {"sm_count": -4}})"), "the fake device's script: \"sm_count\" cannot be -4 | ");
  EXPECT_TRUE(open_error(R"({"facts": {"sm_cuont": 4}})")
                  .starts_with("the fake device's script: unknown field \"sm_cuont\" in \"facts\"; did you mean "
                               "'sm_count'?"));
  EXPECT_NE(open_error("{"), "opened");
  EXPECT_NE(open_error(R"({"trials": [{"match": {"problem": "("}}]})"), "opened");
  EXPECT_NE(open_error(R"({"default": {"time_us": "fast"}})"), "opened");
  EXPECT_NE(open_error(R"({"timers": ["sundial"]})"), "opened");
}

TEST_F(FakeDevice, CountsDramBytesAsScriptedOrSaysWhyNot) {
  const auto counting = open(R"({"dram": {"read": 1000, "written": 500}})");
  const auto traffic = counting->traffic({});
  ASSERT_TRUE(traffic);
  EXPECT_EQ(traffic->read, 1000);
  EXPECT_EQ(traffic->written, 500);
  const auto forbidden = open(R"({"dram": {"forbidden": "for administrators only", "remedy": "run as root"}})");
  ASSERT_FALSE(forbidden->traffic({}));
  EXPECT_EQ(forbidden->traffic({}).error().outcome, model::Outcome::kRejected);
  EXPECT_EQ(forbidden->traffic({}).error().reason, "for administrators only");
  EXPECT_EQ(forbidden->prove_eviction().error().detail, "run as root");
  EXPECT_EQ(open("{}")->traffic({}).error().reason, "this device has no hardware counters");
}

}  // namespace
}  // namespace ktune::device
