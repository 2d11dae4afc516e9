#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "verdict/judge.h"

// What one round of pairs says by itself; shifts are ln(candidate / base).

namespace ktune::verdict {

enum class Signal : std::uint8_t { kQuiet, kSlower, kFaster };

/// Rules' delta of a kernel of this time, as a logarithm.
double delta_of(double base_us, const Rules& rules);
/// The least shift that so many pairs call: delta, or kVisibleErrors standard errors where that is more.
double visible_of(double delta, double pair_sd, std::size_t pairs);
/// Whether so many pairs can reach alpha, and an interval of the level.
bool decidable(std::size_t pairs, const Rules& rules);
/// A Hodges-Lehmann shift of `visible` or more that the signed-rank test finds too. No shifts: kQuiet.
Signal signal_of(std::span<const double> shifts, double visible, double alpha);

}  // namespace ktune::verdict
