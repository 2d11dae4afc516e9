#include "probe/run.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/environment_for_test.h"
#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"

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

TEST_F(RunTest, RefusesAVariantThatIsNotInTheSpace) {
  options_.variant = sweep::parse_variant_choice("num_warps=3");
  EXPECT_EQ(error_of("{}").kind(), ErrorKind::kUsage);
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
