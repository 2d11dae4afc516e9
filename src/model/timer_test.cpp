#include "model/timer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace ktune::model {
namespace {

TEST(TimerTable, KeepsTheSpellingsThatDatabasesHold) {
  EXPECT_EQ(name_of(Timer::kEvents), "events");
  EXPECT_EQ(name_of(Timer::kCupti), "cupti");
  EXPECT_EQ(name_of(Timer::kGraph), "graph");
  EXPECT_EQ(name_of(Timer::kHost), "host");
  EXPECT_EQ(name_of(Timer::kScript), "script");
  EXPECT_EQ(timer_request_names().front(), "auto");
  EXPECT_EQ(timer_request_names().size(), kTimers.size() + 1);
  for (const TimerRow& row : kTimers) {
    EXPECT_EQ(parse_timer(row.name), row.timer);
    EXPECT_EQ(row_of(row.timer).name, row.name);
    EXPECT_FALSE(row.title.empty() || row.summary.empty() || row.devices.empty() || row.cache.empty()) << row.name;
  }
  EXPECT_FALSE(parse_timer("auto"));
  EXPECT_FALSE(parse_timer("Events"));
  EXPECT_FALSE(parse_timer("event"));
}

TEST(TimerTable, SaysWhatAKindOfDeviceOffers) {
  const std::vector<Timer> gpu = timers_of("cuda");
  EXPECT_EQ(gpu.front(), Timer::kEvents);
  EXPECT_NE(std::find(gpu.begin(), gpu.end(), Timer::kGraph), gpu.end());
  EXPECT_EQ(std::find(gpu.begin(), gpu.end(), Timer::kHost), gpu.end());
  EXPECT_EQ(timers_of("cpu"), std::vector<Timer>{Timer::kHost});
  EXPECT_TRUE(timers_of("abacus").empty());
}

TEST(TimerTable, LetsAutoChooseOnlyWhereThereIsAFinerTimer) {
  EXPECT_EQ(auto_timers("cuda"), (std::vector<Timer>{Timer::kEvents, Timer::kCupti}));
  EXPECT_TRUE(auto_decides("cuda"));
  EXPECT_EQ(auto_timers("cpu"), std::vector<Timer>{Timer::kHost});
  EXPECT_FALSE(auto_decides("cpu"));
  EXPECT_FALSE(auto_decides("fake"));
  EXPECT_FALSE(auto_decides("abacus"));
}

TEST(TimerRequest, IsAutoOrATimer) {
  EXPECT_TRUE(timer_request_of("auto").is_auto());
  EXPECT_EQ(timer_request_of("cupti"), TimerRequest(Timer::kCupti));
  try {
    timer_request_of("cuptj");
    FAIL() << "there is no such timer";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_EQ(error.message(), "unknown timer 'cuptj'; did you mean 'cupti'?");
    EXPECT_EQ(error.hint(), "one of " + join(timer_request_names(), ", "));
  }
  EXPECT_EQ(name_of(TimerRequest()), "auto");
  EXPECT_EQ(name_of(TimerRequest(Timer::kGraph)), "graph");
  EXPECT_NE(TimerRequest(), TimerRequest(Timer::kEvents));
}

}  // namespace
}  // namespace ktune::model
