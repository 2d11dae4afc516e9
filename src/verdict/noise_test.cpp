#include "verdict/noise.h"

#include <gtest/gtest.h>

#include <random>

#include "stats/stats.h"
#include "verdict/comparisons_for_test.h"

namespace ktune::verdict {
namespace {

/// Of eight normal values, by Wilson and Hilferty; the true median is 0.9522.
const double kMedianOfSd = std::sqrt(std::pow(1.0 - 2.0 / 63.0, 3));

/// A kernel whose pairs' sample sd is what the typical sample of this process sd would show.
model::Comparison kernel(double time_us, double process_sd_us, double shift_pct = 0.0) {
  const double sd = std::sqrt(2.0) * process_sd_us / time_us * kMedianOfSd / stats::standard_deviation(kSpread);
  model::Comparison comparison = comparison_of(time_us, kSpread);
  for (std::size_t i = 0; i < kSpread.size(); ++i) {
    comparison.pairs[i].candidate.time_us = time_us * (1.0 + shift_pct / 100.0) * std::exp(sd * kSpread[i]);
  }
  return comparison;
}

double pair_sd(double time_us, double process_sd_us) { return std::sqrt(2.0) * process_sd_us / time_us; }

TEST(PairNoise, OfOneKernelIsItsOwn) {
  std::vector<model::Comparison> run = {kernel(50.0, 0.4)};
  EXPECT_NEAR(PairNoise(run, std::nullopt).sd_of(0), pair_sd(50.0, 0.4), 1e-12);
}

TEST(PairNoise, OfFewKernelsScalesTheUsualCurveByTheMedianRatio) {
  auto usual = [](double time_us) { return 0.06 + 0.0003 * time_us; };
  std::vector<model::Comparison> run = {kernel(5.0, 1.1 * usual(5.0)), kernel(50.0, 1.5 * usual(50.0)),
                                        kernel(200.0, 1.6 * usual(200.0))};
  PairNoise noise(run, std::nullopt);
  EXPECT_NEAR(noise.sd_of(0), pair_sd(5.0, 1.5 * usual(5.0)), 1e-12);
  EXPECT_NEAR(noise.sd_of(2), pair_sd(200.0, 1.5 * usual(200.0)), 1e-12);
}

TEST(PairNoise, OfManyKernelsFollowsTheMachinesOwnCurve) {
  // Purely relative noise: the usual curve would call a 3 µs kernel 20 times too noisy.
  std::vector<model::Comparison> run;
  for (double time_us : {3.0, 8.0, 20.0, 60.0, 150.0, 300.0}) run.push_back(kernel(time_us, 0.01 * time_us));
  PairNoise noise(run, std::nullopt);
  for (std::size_t i = 0; i < run.size(); ++i) EXPECT_NEAR(noise.sd_of(i), std::sqrt(2.0) * 0.01, 1e-12) << i;
}

TEST(PairNoise, IsNotMovedByAShift) {
  std::vector<model::Comparison> run;
  for (double shift : {0.0, 0.0, 25.0, 40.0, 0.0, 60.0, 80.0}) run.push_back(kernel(30.0, 0.07, shift));
  EXPECT_NEAR(PairNoise(run, std::nullopt).sd_of(3), pair_sd(30.0, 0.07), 1e-12);
}

TEST(PairNoise, JudgesAKernelThatIsMuchNoisierByItsOwnPairs) {
  std::vector<model::Comparison> run(8, kernel(30.0, 0.07));
  run[5] = kernel(30.0, 0.15);
  run[6] = kernel(30.0, 0.13);
  run[7] = kernel(30.0, 0.02);
  PairNoise noise(run, std::nullopt);
  EXPECT_NEAR(noise.sd_of(0), pair_sd(30.0, 0.07), 1e-12);
  EXPECT_NEAR(noise.sd_of(5), pair_sd(30.0, 0.15), 1e-12);  // more than twice the others
  EXPECT_NEAR(noise.sd_of(6), pair_sd(30.0, 0.07), 1e-12);  // within what eight pairs show by chance
  EXPECT_NEAR(noise.sd_of(7), pair_sd(30.0, 0.07), 1e-12);  // quiet by chance
}

TEST(PairNoise, IsNeverLessThanTheStoredOne) {
  std::vector<model::Comparison> run(6, kernel(30.0, 0.07));
  model::ProcessNoise stored;
  stored.constant_us = 0.1;
  stored.relative = 0.001;
  EXPECT_NEAR(PairNoise(run, stored).sd_of(2), pair_sd(30.0, 0.13), 1e-12);
  stored.constant_us = 0.01;
  EXPECT_NEAR(PairNoise(run, stored).sd_of(2), pair_sd(30.0, 0.07), 1e-12);
  stored.constant_us = -0.09;  // an edited file: no curve at all
  run.resize(2);
  EXPECT_NEAR(PairNoise(run, stored).sd_of(1), pair_sd(30.0, 0.07), 1e-12);
  stored.constant_us = std::nan("");
  EXPECT_NEAR(PairNoise(run, stored).sd_of(1), pair_sd(30.0, 0.07), 1e-12);
}

TEST(PairNoise, OfAKernelWithoutFiguresIsNotKnown) {
  std::vector<model::Comparison> run = {kernel(30.0, 0.07), comparison_of(30.0, {})};
  PairNoise noise(run, std::nullopt);
  EXPECT_NEAR(noise.sd_of(0), pair_sd(30.0, 0.07), 1e-12);
  EXPECT_TRUE(std::isnan(noise.sd_of(1)));
  EXPECT_TRUE(std::isnan(PairNoise(std::span(run).subspan(1), std::nullopt).sd_of(0)));
}

TEST(PairNoise, OfTimesThatDoNotVaryIsNone) {
  std::vector<model::Comparison> run(6, comparison_of(30.0, std::vector<double>(8, 0.0)));
  EXPECT_EQ(PairNoise(run, std::nullopt).sd_of(3), 0.0);
}

std::vector<model::Comparison> simulated(double constant_us, double relative, int noisy, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<model::Comparison> run;
  for (int i = 0; i < 60; ++i) {
    const double time_us = 3.0 * std::pow(100.0, i / 59.0);
    const double sd_us = (constant_us + relative * time_us) * (i % 6 < noisy ? 5.0 : 1.0);
    model::Comparison& comparison = run.emplace_back(comparison_of(time_us, std::vector<double>(20, 0.0)));
    for (model::FigurePair& pair : comparison.pairs) {
      pair.base.time_us += sd_us * normal(random);
      pair.candidate.time_us += sd_us * normal(random);
    }
  }
  return run;
}

TEST(FitNoise, FindsTheCurveThatMadeTheFigures) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    model::ProcessNoise noise = fit_noise(simulated(0.06, 0.0003, 0, seed));
    EXPECT_EQ(noise.kernels, 60);
    EXPECT_EQ(noise.pairs, 20);
    for (double time_us : {5.0, 30.0, 200.0}) {
      EXPECT_NEAR(noise.sd_us(time_us) / (0.06 + 0.0003 * time_us), 1.0, 0.15) << seed << ": " << time_us;
    }
    EXPECT_NEAR(fit_noise(simulated(0.0, 0.01, 0, seed)).sd_us(100.0), 1.0, 0.1);
    EXPECT_NEAR(fit_noise(simulated(0.2, 0.0, 0, seed)).sd_us(100.0), 0.2, 0.02);
  }
}

TEST(FitNoise, IsNotDraggedAlongByASixthOfTheKernels) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    model::ProcessNoise noise = fit_noise(simulated(0.06, 0.0003, 1, seed));
    for (double time_us : {5.0, 30.0, 200.0}) {
      EXPECT_NEAR(noise.sd_us(time_us) / (0.06 + 0.0003 * time_us), 1.06, 0.2) << seed << ": " << time_us;
    }
  }
}

TEST(FitNoise, OfNothingSaysSo) {
  model::ProcessNoise noise = fit_noise({});
  EXPECT_EQ(noise.kernels, 0);
  EXPECT_EQ(noise.sd_us(100.0), 0.0);
}

}  // namespace
}  // namespace ktune::verdict
