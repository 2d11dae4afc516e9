#include "sweep/race.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "stats/stats.h"
#include "sweep/decide.h"

namespace ktune::sweep {
namespace {

measure::Measurement block_of(std::vector<double> times, double cost_us = 130.0, std::uint64_t throttle_bits = 0) {
  measure::Measurement block;
  block.samples.time_us = std::move(times);
  block.cost_us = cost_us;
  block.after.throttle_bits = throttle_bits;
  return block;
}

measure::Series series_of(std::vector<double> times) {
  measure::Series series;
  series.add(block_of(std::move(times)));
  return series;
}

TEST(Judge, AVariantIsOutOnlyWhenItsLeastSampleIsBeyondTheBestByTheMargin) {
  const RacePolicy policy;
  const measure::Series slow = series_of({21.1, 21.2, 21.3, 21.4, 21.5, 21.6, 21.7, 21.8});
  EXPECT_EQ(judge(slow, 20.0, policy), Standing::kOut);
  EXPECT_EQ(judge(slow, 20.2, policy), Standing::kGoOn) << "5 % after the first block";
  EXPECT_EQ(judge(slow, 0.0, policy), Standing::kGoOn) << "there is nothing to be slower than";
  measure::Series longer = slow;
  longer.add(block_of({21.1, 21.2, 21.3, 21.4, 21.5, 21.6, 21.7, 21.8}));
  EXPECT_EQ(judge(longer, 20.2, policy), Standing::kOut) << "1 % later on";
}

TEST(Judge, FewSamplesDecideNothing) { EXPECT_EQ(judge(series_of({30, 30, 30}), 20.0, RacePolicy{}), Standing::kGoOn); }

TEST(Judge, AVariantIsDoneWhenItsMedianIsKnownToHalfAPerCentOrItsBudgetIsUsed) {
  RacePolicy policy;
  EXPECT_EQ(judge(series_of(std::vector<double>(19, 20.0)), 20.0, policy), Standing::kGoOn) << "too few";
  EXPECT_EQ(judge(series_of(std::vector<double>(20, 20.0)), 20.0, policy), Standing::kDone);
  std::vector<double> wide(40);
  for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = 19.0 + 0.05 * static_cast<double>(i);
  EXPECT_EQ(judge(series_of(wide), 20.0, policy), Standing::kGoOn);
  policy.budget_us = 40 * 130.0;
  EXPECT_EQ(judge(series_of(wide), 20.0, policy), Standing::kDone);
  policy.budget_us = 1.0;
  EXPECT_EQ(judge(series_of({20, 21, 22, 23, 24, 25, 26, 27}), 20.0, policy), Standing::kGoOn) << "the least number";
}

TEST(Judge, UnracedEveryVariantUsesItsBudget) {
  RacePolicy policy;
  policy.race = false;
  EXPECT_EQ(judge(series_of(std::vector<double>(20, 99.0)), 20.0, policy), Standing::kGoOn);
  policy.budget_us = 20 * 130.0;
  EXPECT_EQ(judge(series_of(std::vector<double>(20, 99.0)), 20.0, policy), Standing::kDone);
}

TEST(NextBlock, IsSmallAtFirstThenAsLongAsABlockMayTakeAndNeverBeyondTheBudget) {
  RacePolicy policy;
  EXPECT_EQ(next_block({}, policy), 8);
  EXPECT_EQ(next_block(series_of(std::vector<double>(8, 20.0)), policy), 38);  // 5 ms at 130 us
  policy.block_samples = 10;
  EXPECT_EQ(next_block(series_of(std::vector<double>(8, 20.0)), policy), 10);
  policy.budget_us = 8 * 130.0 + 5 * 130.0 + 1.0;
  EXPECT_EQ(next_block(series_of(std::vector<double>(8, 20.0)), policy), 5);
  policy.max_samples = 9;
  EXPECT_EQ(next_block(series_of(std::vector<double>(8, 20.0)), policy), 1);
  measure::Series slow;
  slow.add(block_of(std::vector<double>(8, 5000.0), 5000.0));
  EXPECT_EQ(next_block(slow, RacePolicy{}), 4) << "towards the least number of samples, a few at a time";
}

// A landscape that is raced in turn and decided among the best eight, as a sweep does, on a machine with the noise
// that an H200 shows: samples of 2 %, one in a hundred an outlier, a drift that all share, and for each variant a shift
// that its place in memory gives it in this process.
class Landscape {
 public:
  Landscape(std::vector<double> times, std::uint64_t seed) : times_(std::move(times)), random_(seed) {
    for (std::size_t i = 0; i < times_.size(); ++i) shifts_.push_back(0.02 * normal_(random_));
  }

  measure::Measurement block(std::size_t id, int samples) {
    drift_ += 0.02 * normal_(random_);
    std::vector<double> result;
    for (int i = 0; i < samples; ++i) {
      const double outlier = std::uniform_real_distribution<double>()(random_) < 0.01 ? 5.0 : 0.0;
      const double sample = times_[id] + shifts_[id] + drift_ + 0.02 * times_[id] * normal_(random_) + outlier;
      result.push_back(0.032 * std::round(sample / 0.032));  // events stand on a lattice
    }
    samples_ += static_cast<std::size_t>(samples);
    return block_of(std::move(result));
  }

  /// The place of the winner, and the tie set, both by place.
  std::pair<std::size_t, std::vector<std::size_t>> sweep(bool backward, bool race = true) {
    std::vector<std::pair<double, std::size_t>> ranked = explore(backward, race);
    std::sort(ranked.begin(), ranked.end());
    ranked.resize(std::min<std::size_t>(ranked.size(), 8));
    std::vector<Contender> finalists;
    for (const auto& [time, id] : ranked) {
      Contender one;
      one.id = static_cast<std::int64_t>(id);
      finalists.push_back(one);
    }
    for (int round = 0; round < 10; ++round)
      for (Contender& one : finalists)
        one.rounds.push_back(stats::trimmed_mean(block(static_cast<std::size_t>(one.id), 40).samples.time_us, 0.2));
    const Choice choice = choose(finalists);
    std::vector<std::size_t> tied;
    for (const std::size_t i : choice.tie_set) tied.push_back(static_cast<std::size_t>(finalists[i].id));
    std::sort(tied.begin(), tied.end());
    return {static_cast<std::size_t>(finalists[choice.winner].id), tied};
  }

  std::size_t samples() const { return samples_; }

 private:
  std::vector<std::pair<double, std::size_t>> explore(bool backward, bool race) {
    RacePolicy policy;
    policy.race = race;
    std::vector<std::size_t> order(times_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (backward) std::reverse(order.begin(), order.end());
    std::vector<measure::Series> series(times_.size());
    std::vector<std::pair<double, std::size_t>> ranked;
    double best_high = 0.0;
    while (!order.empty()) {
      std::vector<std::size_t> left;
      for (std::size_t i = 0; i < order.size(); ++i) {
        measure::Series& mine = series[order[i]];
        if (i < 16) mine.add(block(order[i], next_block(mine, policy)));
        const model::TimingSummary summary = mine.summary();
        if (i < 16 && (best_high == 0.0 || summary.ci_high_us < best_high)) best_high = summary.ci_high_us;
        if (i >= 16 || judge(mine, best_high, policy) == Standing::kGoOn)
          left.push_back(order[i]);
        else
          ranked.emplace_back(summary.time_us, order[i]);
      }
      order = left;
    }
    return ranked;
  }

  std::vector<double> times_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::vector<double> shifts_;
  double drift_ = 0.0;
  std::size_t samples_ = 0;
};

/// Two hundred variants; the best is number 57, others follow at 2 % and more.
std::vector<double> clear_winner() {
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) times.push_back(20.4 + 0.05 * static_cast<double>((i * 37) % 200));
  times[57] = 20.0;
  return times;
}

TEST(Landscape, AClearWinnerIsNamedForEverySeedInBothOrders) {
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (const bool backward : {false, true}) {
      const auto [winner, tied] = Landscape(clear_winner(), seed * 2 + (backward ? 1 : 0)).sweep(backward);
      ASSERT_EQ(winner, 57U) << seed << (backward ? " backward" : "");
      ASSERT_EQ(tied, std::vector<std::size_t>{57}) << seed << (backward ? " backward" : "");
    }
}

TEST(Landscape, OfThreeEqualVariantsTheFirstWinsForEverySeedInBothOrders) {
  std::vector<double> times = clear_winner();
  times[5] = times[150] = 20.0;
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (const bool backward : {false, true}) {
      const auto [winner, tied] = Landscape(times, 1000 + seed * 2 + (backward ? 1 : 0)).sweep(backward);
      ASSERT_EQ(tied, (std::vector<std::size_t>{5, 57, 150})) << seed << (backward ? " backward" : "");
      ASSERT_EQ(winner, 5U) << seed << (backward ? " backward" : "");
    }
}

TEST(Landscape, RacingTakesAFractionOfTheSamplesAndNamesTheSameWinner) {
  Landscape raced(clear_winner(), 3), unraced(clear_winner(), 4);
  EXPECT_EQ(raced.sweep(false, true).first, 57U);
  EXPECT_EQ(unraced.sweep(false, false).first, 57U);
  EXPECT_LT(raced.samples() * 3, unraced.samples());
}

}  // namespace
}  // namespace ktune::sweep
