#include "report/remarks.h"

#include <gtest/gtest.h>

namespace ktune::report {
namespace {

using Texts = std::vector<std::string>;

TEST(Remarks, OneLineAKindWithTheRangeOfItsNumbers) {
  EXPECT_EQ(grouped({{"too-short: 4.67 µs is short for the events timer; use a larger problem", "M=17"},
                     {"too-short: 4.64 µs is short for the events timer; use a larger problem", "M=17"},
                     {"smaller than L2", "M=17"},
                     {"too-short: 14.80 µs is short for the events timer; use a larger problem", "M=64"}},
                    5),
            (Texts{"too-short: 4.64 to 14.80 µs is short for the events timer; use a larger problem (M=17; M=64)",
                   "smaller than L2 (M=17)"}));
}

TEST(Remarks, WhatIsAboutAllNamesNone) {
  EXPECT_EQ(grouped({{"hot: 80 °C", "a"}, {"hot: 85 °C", "b"}}, 2), Texts{"hot: 80 to 85 °C"});
}

TEST(Remarks, ThreeAreNamedAndTheRestCounted) {
  std::vector<Remark> remarks;
  for (const char* name : {"a", "b", "c", "d", "e"}) remarks.push_back({"latency-bound: short", name});
  EXPECT_EQ(grouped(remarks, 6), Texts{"latency-bound: short (a; b; c; 2 more)"});
}

TEST(Remarks, WordsThatDifferAndAreNoNumbersAreLeftOut) {
  EXPECT_EQ(grouped({{"traffic: the winner moves 1.20 × it", "a"}, {"traffic: the default moves 1.50 × it", "a"}}, 2),
            Texts{"traffic: the … moves 1.20 to 1.50 × it (a)"});
}

TEST(Remarks, TextsOfUnequalLengthKeepTheirEnds) {
  EXPECT_EQ(
      grouped({{"other: one process computes here; wait", "a"}, {"other: 2 or more processes compute here; wait", "b"}},
              3),
      Texts{"other: … here; wait (a; b)"});
}

TEST(Remarks, ASentenceWithAColonIsAKindOfItsOwn) {
  EXPECT_EQ(grouped({{"a time of this host: it says nothing", "a"}, {"a time of that host: it says more", "b"}}, 2),
            (Texts{"a time of this host: it says nothing (a)", "a time of that host: it says more (b)"}));
}

}  // namespace
}  // namespace ktune::report
