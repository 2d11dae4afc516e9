#pragma once

#include <cstddef>

#include "sweep/policy.h"

namespace ktune::sweep {

/// What a problem's finals will take, by what its trials took. Loads and calls count with their mean. Samples count
/// with the cost of the cheapest variant, since finalists are nearly as fast, or of the first one, the default, where
/// that is more: the default is always a finalist.
class FinalsCost {
 public:
  /// A variant was loaded and verified, in so many seconds.
  void add_load(double seconds);
  /// A call took so many samples, each at `cost_us` of wall time, in so many seconds.
  void add_call(double seconds, int samples, double cost_us);

  /// Seconds for so many finalists, with a margin; 0 for none.
  double expected_s(std::size_t finalists, const MeasurePolicy& policy) const;

 private:
  double load_s_ = 0.0;
  double over_s_ = 0.0;  ///< of calls, over what their samples cost
  double first_us_ = 0.0;
  double least_us_ = 0.0;
  int loads_ = 0;
  int calls_ = 0;
};

}  // namespace ktune::sweep
