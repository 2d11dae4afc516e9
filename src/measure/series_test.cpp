#include "measure/series.h"

#include <gtest/gtest.h>

#include "measure/noise.h"

namespace ktune::measure {
namespace {

Measurement block_of(std::vector<double> times, std::uint64_t throttle_bits = 0) {
  Measurement block;
  block.samples = {std::move(times), model::Timer::kScript, model::CacheState::kDirty};
  block.cost_us = 100.0;
  block.before.sm_clock_mhz = block.after.sm_clock_mhz = 1980;
  block.after.throttle_bits = throttle_bits;
  return block;
}

TEST(Series, IsItsBlocksTogether) {
  Series series;
  EXPECT_EQ(series.summary().n, 0);
  EXPECT_EQ(series.cost_us(), 0.0);
  series.add(block_of({10, 11, 12}));
  series.add(block_of({13, 14}));
  EXPECT_EQ(series.taken(), 5);
  EXPECT_EQ(series.spent_us(), 500.0);
  EXPECT_EQ(series.summary().time_us, 12.0);
  const Measurement whole = series.report();
  EXPECT_EQ(whole.samples.time_us, (std::vector<double>{10, 11, 12, 13, 14}));
  EXPECT_EQ(whole.samples.timer, model::Timer::kScript);
  EXPECT_EQ(whole.samples.cache_state, model::CacheState::kDirty);
  EXPECT_FALSE(series.inconclusive());
}

TEST(Series, LeavesOutAFifthOfThrottledSamplesAtMostAndSaysSo) {
  Series series;
  for (int i = 0; i < 4; ++i) series.add(block_of({10, 10, 10, 10, 10}));
  series.add(block_of({30, 30, 30, 30, 30}, 0x24));
  EXPECT_FALSE(series.inconclusive());
  EXPECT_EQ(series.taken(), 25);
  const Measurement whole = series.report();
  EXPECT_EQ(whole.samples.time_us, std::vector<double>(20, 10.0));
  ASSERT_EQ(whole.warnings.size(), 1U);
  EXPECT_EQ(whole.warnings[0],
            "throttled: 5 of 25 samples were taken while the device held its clock down (reasons 0x24) and are left "
            "out; let the device cool down, or lock the clocks lower");
  EXPECT_FALSE(is_inconclusive(whole.warnings));
}

TEST(Series, IsInconclusiveBeyondAFifthAndKeepsAllSamples) {
  Series series;
  for (int i = 0; i < 3; ++i) series.add(block_of({10, 10, 10, 10, 10}));
  series.add(block_of({10, 10, 10, 10, 10}, 0x8));
  EXPECT_TRUE(series.inconclusive());
  const Measurement whole = series.report();
  EXPECT_EQ(whole.samples.time_us.size(), 20U);
  ASSERT_EQ(whole.warnings.size(), 1U);
  EXPECT_EQ(whole.warnings[0],
            "inconclusive: 5 of 20 samples were taken while the device held its clock down (reasons 0x8); let the "
            "device cool down, and sweep again");
  EXPECT_TRUE(is_inconclusive(whole.warnings));
}

TEST(Series, AnIdleClockBeforeABlockIsNoThrottling) {
  Series series;
  series.add(block_of(std::vector<double>(8, 10.0), 0x1));
  EXPECT_TRUE(series.report().warnings.empty());
}

TEST(Series, LooksForAClockThatMovedWithinABlockNotBetweenBlocks) {
  Series steady;
  steady.add(block_of(std::vector<double>(8, 10.0)));
  Measurement later = block_of(std::vector<double>(8, 10.0));
  later.before.sm_clock_mhz = later.after.sm_clock_mhz = 1500;
  steady.add(later);
  EXPECT_TRUE(steady.report().warnings.empty());
  Measurement moved = block_of(std::vector<double>(8, 10.0));
  moved.after.sm_clock_mhz = 1500;
  moved.before.other_processes = 1;
  steady.add(moved);
  steady.add(block_of(std::vector<double>(8, 10.0)));
  const std::vector<std::string> warnings = steady.report().warnings;
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_TRUE(warnings[0].starts_with("clock-changed: the SM clock went from 1980 to 1500 MHz"));
  EXPECT_TRUE(warnings[1].starts_with("other-process: another process"));
}

}  // namespace
}  // namespace ktune::measure
