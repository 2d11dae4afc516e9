#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/report.h"

namespace ktune::report {

/// t = t0 + bytes · us_per_byte.
struct AffineFit {
  double t0_us = 0.0;
  double us_per_byte = 0.0;
  double at(double bytes) const { return t0_us + bytes * us_per_byte; }
};

/// The fit with the least squared relative error; t0 is not negative. Nothing with fewer than three distinct sizes,
/// or when the time does not grow with the size. Points are (bytes, µs), both > 0.
std::optional<AffineFit> fit_affine(const std::vector<std::pair<double, double>>& points);

/// One of kCeilingOps, or one mix of `ktune roofline`, as measured.
struct Mix {
  std::string op;              ///< "copy", or "1:1"
  double read_fraction = 0.0;  ///< of its bytes, mean over its problems
  double us_per_byte = 0.0;    ///< of its best rate
  std::optional<AffineFit> fit;
};

/// What one device reaches with one driver, timer and cache state.
class Ceiling {
 public:
  explicit Ceiling(const std::vector<const Row*>& rows);
  explicit Ceiling(std::vector<Mix> mixes);

  const std::vector<Mix>& mixes() const { return mixes_; }
  /// Least time per byte of a mix: of the measured one that matches, else between its neighbours; nothing outside
  /// what was measured.
  std::optional<double> us_per_byte(double read_fraction) const;
  std::optional<AffineFit> floor(double read_fraction) const;

 private:
  struct Neighbours {
    const Mix* below = nullptr;
    const Mix* above = nullptr;
    double weight = 0.0;  ///< of `above`
  };
  std::optional<Neighbours> neighbours(double read_fraction) const;

  std::vector<Mix> mixes_;  ///< by read fraction
};

/// What two rows must share for one to be the other's ceiling: device, driver, timer and cache state.
std::string ceiling_key(const Row& row);
using Ceilings = std::map<std::string, Ceiling>;
/// From the rows of kCeilingOps that have a time.
Ceilings ceilings_of(const std::vector<Row>& rows);

}  // namespace ktune::report
