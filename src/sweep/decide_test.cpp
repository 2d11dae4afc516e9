#include "sweep/decide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "model/plan.h"
#include "sweep/finalists.h"

namespace ktune::sweep {
namespace {

Contender contender(std::int64_t id, std::vector<double> rounds) {
  Contender one;
  one.id = id;
  one.rounds = std::move(rounds);
  return one;
}

/// Ten rounds around a time: what the median of one round's block varies by, and a drift that all share.
class Machine {
 public:
  explicit Machine(std::uint64_t seed) : random_(seed) {
    for (double& shift : drift_) shift = 0.2 * normal_(random_);
  }
  std::vector<double> rounds(double time_us, double sd_us) {
    std::vector<double> result;
    for (const double shift : drift_) result.push_back(time_us + shift + sd_us * normal_(random_));
    return result;
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::array<double, 10> drift_{};
};

TEST(Ties, TheThresholdIsOnePerCentAndNeverBelowAProcessNoise) {
  EXPECT_DOUBLE_EQ(tie_threshold_us(100.0), 1.0);
  EXPECT_DOUBLE_EQ(tie_threshold_us(4.0), 0.1);
}

TEST(Ties, LooksAtTheMedianOfTheDifference) {
  const std::vector<double> best(10, 20.0);
  EXPECT_TRUE(ties(best, std::vector<double>(10, 20.19)));
  std::vector<double> other(10, 20.21);
  EXPECT_FALSE(ties(best, other));
  other[0] = 19.0;  // a single round may say what it likes
  EXPECT_FALSE(ties(best, other));
}

TEST(Ties, AnIntervalThatHoldsZeroIsNoDifference) {
  const std::vector<double> best(10, 20.0);
  std::vector<double> other(10, 21.0);
  EXPECT_FALSE(ties(best, other));
  other[0] = 19.0;  // the interval of ten runs from the second to the ninth
  EXPECT_FALSE(ties(best, other));
  other[1] = 19.5;
  EXPECT_TRUE(ties(best, other));
}

TEST(Ties, TwoOfTheSameSpeedAlwaysDo) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Machine machine(seed);
    const double time = seed % 2 == 0 ? 20.0 : 4.0;
    std::vector<Contender> two{contender(0, machine.rounds(time, 0.04)), contender(1, machine.rounds(time, 0.04))};
    ASSERT_EQ(choose(two).tie_set.size(), 2U) << seed;
  }
}

TEST(Ties, TwoThatDifferByTwoPerCentAtTwentyMicrosecondsNeverDo) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Machine machine(seed);
    std::vector<Contender> two{contender(0, machine.rounds(20.4, 0.06)), contender(1, machine.rounds(20.0, 0.06))};
    const Choice choice = choose(two);
    ASSERT_EQ(choice.tie_set, std::vector<std::size_t>{1}) << seed;
    ASSERT_EQ(choice.winner, 1U) << seed;
  }
}

TEST(Choose, PrefersTheDefaultThenThePreviousWinnerThenFewerResourcesThenTheSpacesOrder) {
  std::vector<Contender> tied{contender(7, {10.0, 10.0}), contender(3, {10.01, 10.01}), contender(5, {10.02, 10.02}),
                              contender(9, {10.03, 10.03}), contender(1, {11.0, 11.0})};
  EXPECT_EQ(choose(tied).best, 0U);
  EXPECT_EQ(choose(tied).tie_set, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(choose(tied).winner, 1U) << "the first of the space";
  for (Contender& one : tied) one.registers = 1000, one.shared_bytes = 8;
  tied[2].shared_bytes = 4;
  EXPECT_EQ(choose(tied).winner, 2U);
  tied[0].registers = 900;
  EXPECT_EQ(choose(tied).winner, 0U);
  tied[3].won_before = true;
  EXPECT_EQ(choose(tied).winner, 3U);
  tied[1].is_default = true;
  EXPECT_EQ(choose(tied).winner, 1U);
  tied[1].is_default = false;
  tied[4].is_default = true;
  EXPECT_EQ(choose(tied).winner, 3U) << "a default that is slower wins nothing";
}

/// Best, default and winner of before; the best is at 100 µs, so that a threshold is 1 µs.
Choice choice_of(double default_us, double before_us) {
  std::vector<Contender> three{contender(0, {100.0, 100.0}), contender(1, {default_us, default_us}),
                               contender(2, {before_us, before_us})};
  three[1].is_default = true;
  three[2].won_before = true;
  return choose(three);
}

TEST(Choose, TheWinnerOfBeforeStaysUntilItIsClearlySlowerOrTheDefaultClearlyTies) {
  EXPECT_EQ(choice_of(100.51, 101.49).winner, 2U);
  EXPECT_EQ(choice_of(100.49, 101.49).winner, 1U) << "the default is within half a threshold";
  EXPECT_EQ(choice_of(100.51, 101.51).winner, 1U) << "the winner of before is out, and a tied default wins";
  EXPECT_EQ(choice_of(101.01, 101.51).winner, 0U);
  EXPECT_EQ(choice_of(101.01, 101.49).tie_set, (std::vector<std::size_t>{0, 2})) << "a winner is in its tie set";
  EXPECT_EQ(choice_of(100.51, 101.49).tie_set, (std::vector<std::size_t>{0, 1, 2}));
  std::vector<Contender> two{contender(0, {100.0, 100.0}), contender(1, {101.4, 101.4})};
  two[1].is_default = two[1].won_before = true;
  EXPECT_EQ(choose(two).winner, 1U) << "the default of before";
}

/// What a pair's difference varies by from sweep to sweep where the default is slower by just the threshold: 0.2 µs at
/// 65 µs, seen on an H200.
TEST(Choose, SweepAfterSweepNamesTheSameWinnerWhereADifferenceIsTheThreshold) {
  int changes = 0, changes_without = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> shift(0.0, 0.2);
    std::size_t winner[2][2];
    for (int keeps = 0; keeps < 2; ++keeps) {
      for (int sweep = 0; sweep < 2; ++sweep) {
        Machine machine(2 * seed + static_cast<std::uint64_t>(sweep));
        std::vector<Contender> two{contender(0, machine.rounds(65.0, 0.1)),
                                   contender(1, machine.rounds(65.65 + shift(random), 0.1))};
        two[1].is_default = true;
        if (sweep == 1 && keeps == 1) two[winner[1][0]].won_before = true;
        winner[keeps][sweep] = choose(two).winner;
      }
    }
    changes += winner[1][0] != winner[1][1] ? 1 : 0;
    changes_without += winner[0][0] != winner[0][1] ? 1 : 0;
  }
  EXPECT_GT(changes_without, 600);
  EXPECT_LT(changes, 200);
}

TEST(Choose, OneContenderWins) {
  const Choice choice = choose(std::vector<Contender>{contender(4, {3.0})});
  EXPECT_EQ(choice.winner, 0U);
  EXPECT_EQ(choice.tie_set, std::vector<std::size_t>{0});
}

TEST(Resources, AreThoseOfTheLargestLaunch) {
  model::VariantPlan plan;
  plan.launches.resize(2);
  plan.launches[0].kernel = "a";
  plan.launches[0].block = {128, 2, 1};
  plan.launches[0].smem_bytes = 100;
  plan.launches[1].kernel = "b";
  plan.launches[1].block = {32, 1, 1};
  model::KernelResources a, b;
  a.registers = 40;
  a.shared_bytes = 24;
  b.registers = 255;
  EXPECT_EQ(resources_used(plan, {{"a", a}, {"b", b}}), (std::pair<std::int64_t, std::int64_t>{10240, 124}));
  EXPECT_EQ(resources_used(plan, {}), (std::pair<std::int64_t, std::int64_t>{0, 100})) << "not known";
}

}  // namespace
}  // namespace ktune::sweep
