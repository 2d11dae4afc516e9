#include "probe/run.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/environment_for_test.h"
#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "model/json.h"

namespace ktune::probe {
namespace {

class RunTest : public testing::Test {
 protected:
  RunTest()
      : folder_(testing::TempDir(), "run_test", ""), cache_("KTUNE_CACHE_DIR", (folder_.path() / "cache").string()) {
    options_.selection.configs = {(resource_root() / "scripts" / "cases" / "scale" / "scale.toml").string()};
    options_.notices.line = [this](const std::string& text) { said_.push_back(text); };
  }
  RunResult run(const std::string& script) {
    write_file(folder_.path() / "fake.json", script);
    options_.device = "fake:" + (folder_.path() / "fake.json").string();
    return probe::run(options_);
  }
  Error error_of(const std::string& script) {
    try {
      run(script);
    } catch (const Error& error) {
      return error;
    }
    return Error(ErrorKind::kUsage, "no error");
  }

  TemporaryFolder folder_;
  ScopedVariable cache_;
  RunOptions options_;
  std::vector<std::string> said_;
};

TEST_F(RunTest, TimesOneVariantAndSaysEachStep) {
  options_.variant = sweep::parse_variant_choice("num_warps=2");
  options_.request.samples = 3;
  const RunResult result = run(R"({"default": {"times_us": [3, 4, 5]}})");
  ASSERT_TRUE(result.timed);
  EXPECT_EQ(result.timed->samples.time_us, (std::vector<double>{3, 4, 5}));
  EXPECT_EQ(result.timed->samples.timer, model::Timer::kScript);
  EXPECT_FALSE(result.counted);
  EXPECT_GT(result.cost.bytes(), 0);
  ASSERT_EQ(said_.size(), 4U);
  EXPECT_TRUE(said_[0].starts_with("device    ")) << said_[0];
  EXPECT_EQ(said_[1], "problem   scale N=1000");
  EXPECT_EQ(said_[2], "variant   num_warps=2");
  EXPECT_EQ(said_[3], "verified  worst difference 0.250 of the tolerance");
}

TEST_F(RunTest, FindsOutputsThatAreWrongOnlyAfterTheTimedLaunches) {
  const std::string late = R"({"trials": [{"outcome": "WrongResult", "at": "time", "fault": "overrun"}]})";
  const Error timed = error_of(late);
  EXPECT_EQ(timed.kind(), ErrorKind::kNo);
  EXPECT_TRUE(timed.message().starts_with("measure: WrongResult: after timing: wrote outside ")) << timed.message();
  options_.evicted_launches = 2;
  const Error launched = error_of(late);
  EXPECT_TRUE(launched.message().starts_with("launch: WrongResult: after further launches: wrote outside "))
      << launched.message();
}

TEST_F(RunTest, OnlyLaunchesWhenToldTo) {
  options_.launches = 5;
  EXPECT_FALSE(run("{}").timed);
  EXPECT_EQ(said_.back(), "launched  5 more times");
  options_.launches = 0;
  options_.evicted_launches = 2;
  options_.request.cache_state = model::CacheState::kDirty;
  EXPECT_FALSE(run("{}").timed);
  EXPECT_EQ(said_.back(), "launched  2 more times, dirty L2 before each");
}

TEST_F(RunTest, SaysWhatTheVariantIs) {
  run("{}");
  EXPECT_EQ(said_.at(2), "variant   num_warps=4 (the default)");
  said_.clear();
  options_.variant = sweep::parse_variant_choice("winner");
  options_.database = (folder_.path() / "none.db").string();
  run("{}");
  EXPECT_EQ(said_.at(0), "note      no winner is stored for scale N=1000: the default stands in");
}

TEST_F(RunTest, FindsAWrongResultBeforeItTimes) {
  const Error error = error_of(R"({"trials": [{"outcome": "WrongResult"}]})");
  EXPECT_EQ(error.kind(), ErrorKind::kNo);
  EXPECT_TRUE(error.message().starts_with("verify: WrongResult: ")) << error.message();
}

TEST_F(RunTest, LaunchesAsOftenAsItIsToldAndChecksTheLastLaunch) {
  const std::string scale = (resource_root() / "scripts" / "cases" / "scale").string();
  write_file(folder_.path() / "scale.toml", read_file(scale + "/scale.toml"));
  write_file(folder_.path() / "scale.cu", R"(
extern "C" __global__ void scale_reference(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 3.f * x[i];
}
__device__ int launches = 0;
extern "C" __global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * (32 * num_warps) + threadIdx.x;
  if (i == 0) ++launches;  // it tires
  if (i < n) y[i] = launches > 8 ? 0.f : 3.f * x[i];
})");
  options_.selection.configs = {(folder_.path() / "scale.toml").string()};
  options_.device = "cpu";
  options_.launches = 1;
  probe::run(options_);
  EXPECT_EQ(said_.back(), "launched  1 more times");
  for (const std::string& line : said_) EXPECT_FALSE(line.starts_with("kernel ")) << "a host compiler tells nothing";
  options_.launches = 16;
  try {
    probe::run(options_);
    FAIL() << "the ninth launch is wrong";
  } catch (const Error& error) {
    EXPECT_TRUE(error.message().starts_with("launch: WrongResult: after further launches: ")) << error.message();
  }
}

TEST_F(RunTest, KeepsTheBinaryWithItsTensorsAndLaunches) {
  options_.selection.configs = {(resource_root() / "scripts" / "cases" / "column_mean" / "column_mean.toml").string()};
  options_.selection.shapes = {"64x64"};
  options_.selection.dtypes = {"f32"};
  options_.keep_binary = (folder_.path() / "kept").string();
  options_.device = "cpu";
  options_.launches = 1;
  probe::run(options_);
  const model::Json kept = model::Json::parse(read_file(options_.keep_binary + ".json"));
  std::vector<std::string> names;
  for (const model::Json& tensor : kept.at("tensors")) names.push_back(tensor.at("name"));
  EXPECT_EQ(names, (std::vector<std::string>{"x", "mean", "partial"})) << "scratch comes last";
  EXPECT_EQ(kept.at("launches").size(), 2U);
  EXPECT_TRUE(std::filesystem::exists(options_.keep_binary));
  EXPECT_EQ(said_.at(3), "binary    " + options_.keep_binary + ", its launches in " + options_.keep_binary + ".json");
}

TEST_F(RunTest, CountsTheBytesThatMoveWhereItIsAsked) {
  options_.counters = true;
  const RunResult result = run(R"({"dram": {"read": 4000, "written": 4100}})");
  ASSERT_TRUE(result.counted);
  EXPECT_EQ(result.counted->dram_read, 4000);
  EXPECT_EQ(result.counted->dram_written, 4100);
}

TEST_F(RunTest, CountsNothingWhereItOnlyLaunchesFromACacheState) {
  options_.counters = true;
  options_.evicted_launches = 2;
  EXPECT_FALSE(run("{}").counted);
}

TEST_F(RunTest, TakesOneProblem) {
  options_.selection.shapes = {"1000", "2000"};
  const Error error = error_of("{}");
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(error.message(), "run takes one problem, this names 2");
}

TEST_F(RunTest, RefusesAVariantThatIsNotInTheSpace) {
  options_.variant = sweep::parse_variant_choice("num_warps=64");
  const Error error = error_of("{}");
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(error.message().starts_with("num_warps=64 is not in the space of scale N=1000: ")) << error.message();
}

TEST_F(RunTest, NamesTheTimerThatIsNotThereBeforeAnythingIsRun) {
  options_.request.timer = model::Timer::kCupti;
  const Error error = error_of("{}");
  EXPECT_EQ(error.message(), "the timer cupti cannot be used here: this device has no timer 'cupti'");
  EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
  EXPECT_TRUE(said_.empty());
}

}  // namespace
}  // namespace ktune::probe
