#include "model/newest.h"

#include <gtest/gtest.h>

namespace ktune::model {
namespace {

TEST(NewestPick, TakesTheFirstOfferOfASubjectAndHidesTheRest) {
  NewestPick pick;
  EXPECT_TRUE(pick.offer("rmsnorm a", "events cold"));
  EXPECT_FALSE(pick.offer("rmsnorm a", "events cold"));
  EXPECT_TRUE(pick.offer("rmsnorm b", "events cold"));
}

TEST(NewestPick, KeepsOneOfEachWayOfTiming) {
  NewestPick pick;
  EXPECT_TRUE(pick.offer("a", "events dirty"));
  EXPECT_TRUE(pick.offer("a", "events cold"));
  EXPECT_FALSE(pick.offer("a", "events dirty"));
}

TEST(NewestPick, ANewerRecordWithoutTimingHidesEveryOlderOne) {
  NewestPick pick;
  EXPECT_TRUE(pick.offer("a", ""));
  EXPECT_FALSE(pick.offer("a", "events cold"));
  EXPECT_FALSE(pick.offer("a", ""));
}

TEST(NewestPick, AnOlderRecordWithoutTimingIsHiddenByANewerOne) {
  NewestPick pick;
  EXPECT_TRUE(pick.offer("a", "events cold"));
  EXPECT_FALSE(pick.offer("a", ""));
  EXPECT_TRUE(pick.offer("a", "events dirty"));
}

}  // namespace
}  // namespace ktune::model
