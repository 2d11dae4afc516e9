// One kernel's eight pairs say little of their own spread (a sample sd of eight is off by 27 %, one of the 40 by half),
// and a gate that trusts them calls whichever kernel looked quiet by chance. So the run's kernels are read together:
// process sd = a + b·t is one curve for the device. It is fitted to the kernels' sample sds by the least sum of
// |ln(sd / curve)|: for a given ratio a : b that is the median of sd / curve, which a few noisy kernels do not move,
// where least squares would follow them, and a shift of a kernel does not touch its sd at all.

#include "verdict/noise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/stats.h"
#include "verdict/pairs.h"

namespace ktune::verdict {
namespace {

/// A pair is two processes.
const double kPairOfProcesses = std::sqrt(2.0);
/// The curve measured on an H200 (µs, and per µs), which a few kernels can only scale.
constexpr double kUsualConstantUs = 0.06;
constexpr double kUsualRelative = 0.0003;
/// That many kernels say what shape the curve has.
constexpr std::size_t kShapeKernels = 5;
/// A kernel with more than this times the curve is judged by its own pairs.
constexpr double kOwnNoise = 2.0;

struct Curve {
  double constant_us = 0.0;
  double relative = 0.0;
  double sd_us(double time_us) const { return constant_us + relative * time_us; }
};

struct Point {
  std::size_t index = 0;
  double time_us = 0.0;
  double sd = 0.0;  ///< of one process' figure, relative
  int pairs = 0;
};

/// The median of a sample sd of n normal values, by the Wilson-Hilferty median of chi-squared, as a part of the sd.
double median_of_sample_sd(std::size_t n) {
  const double freedom = static_cast<double>(n) - 1.0;
  return std::sqrt(std::pow(1.0 - 2.0 / (9.0 * freedom), 3));
}

std::vector<Point> read_points(std::span<const model::Comparison> comparisons) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    const Round round = read_round(comparisons[i].pairs);
    if (round.shifts.size() < 2) continue;
    const double sd = stats::standard_deviation(round.shifts) / median_of_sample_sd(round.shifts.size());
    points.push_back({i, round.base_us, sd / kPairOfProcesses, static_cast<int>(round.shifts.size())});
  }
  return points;
}

/// `shape` scaled by the median ratio, and what the points then miss it by.
std::pair<Curve, double> scale(const Curve& shape, std::span<const Point> points) {
  std::vector<double> ratios;
  for (const Point& point : points) ratios.push_back(point.sd * point.time_us / shape.sd_us(point.time_us));
  const double factor = stats::median(ratios);
  double miss = 0.0;
  constexpr double kTiny = 1e-12;  // scripted times may not vary at all
  for (double ratio : ratios) miss += std::abs(std::log(std::max(ratio, kTiny) / std::max(factor, kTiny)));
  return {{shape.constant_us * factor, shape.relative * factor}, miss};
}

Curve fit(std::span<const Point> points, const Curve& usual) {
  auto [best, least] = scale(usual, points);
  if (points.size() < kShapeKernels) return best;
  std::vector<Curve> shapes = {{1.0, 0.0}, {0.0, 1.0}};
  for (double crossing_us = 0.25; crossing_us < 5000.0; crossing_us *= std::sqrt(2.0)) {
    shapes.push_back({crossing_us, 1.0});  // where both terms are equal
  }
  for (const Curve& shape : shapes) {
    auto [curve, miss] = scale(shape, points);
    if (miss >= least) continue;
    best = curve;
    least = miss;
  }
  return best;
}

}  // namespace

PairNoise::PairNoise(std::span<const model::Comparison> comparisons, const std::optional<model::ProcessNoise>& stored)
    : sd_(comparisons.size(), std::numeric_limits<double>::quiet_NaN()) {
  const std::vector<Point> points = read_points(comparisons);
  if (points.empty()) return;
  Curve usual{kUsualConstantUs, kUsualRelative};
  if (stored && stored->constant_us >= 0.0 && stored->relative >= 0.0 && stored->sd_us(1.0) > 0.0)
    usual = {stored->constant_us, stored->relative};
  const Curve curve = fit(points, usual);
  for (const Point& point : points) {
    double sd = curve.sd_us(point.time_us) / point.time_us;
    if (point.sd > kOwnNoise * sd) sd = point.sd;
    if (stored) sd = std::max(sd, stored->sd_us(point.time_us) / point.time_us);
    sd_[point.index] = kPairOfProcesses * sd;
  }
}

double PairNoise::sd_of(std::size_t index) const { return sd_.at(index); }

model::ProcessNoise fit_noise(std::span<const model::Comparison> comparisons) {
  model::ProcessNoise noise;
  const std::vector<Point> points = read_points(comparisons);
  if (points.empty()) return noise;
  const Curve curve = fit(points, {kUsualConstantUs, kUsualRelative});
  noise.constant_us = curve.constant_us;
  noise.relative = curve.relative;
  noise.kernels = static_cast<int>(points.size());
  for (const Point& point : points) noise.pairs = std::max(noise.pairs, point.pairs);
  return noise;
}

}  // namespace ktune::verdict
