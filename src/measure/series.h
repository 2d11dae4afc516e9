#pragma once

#include <string>
#include <vector>

#include "measure/measure.h"

namespace ktune::measure {

/// Samples or rounds during which the device held its clock down are left out where they are at most one in so many.
inline constexpr int kDroppedShare = 5;

/// The samples of one variant, gathered in blocks in turn with other variants'. A block before or after which the
/// device held its clock down is throttled: its samples are left out where they are at most a fifth of all; else all
/// are kept and the variant is inconclusive.
class Series {
 public:
  void add(Measurement block);

  /// Of all blocks, throttled ones included.
  int taken() const;
  /// Wall time that sampling took, microseconds.
  double spent_us() const;
  /// Wall time of one sample of the last block; 0 before there is one.
  double cost_us() const;
  bool inconclusive() const;
  /// What summarize says of the samples that count.
  model::TimingSummary summary() const;
  /// As if the samples that count had been taken at once, with what may have disturbed them.
  Measurement report() const;

 private:
  int throttled() const;
  bool counts(const Measurement& block) const;
  model::Samples samples() const;

  std::vector<Measurement> blocks_;
};

}  // namespace ktune::measure
