#include "sweep/budget.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace ktune::sweep {

namespace {

/// Of a problem's share, kept for its finals. More than half would leave a sweep of slow kernels so little to explore
/// that the same command never came to an end.
constexpr double kLeastForFinals = 0.1;
constexpr double kMostForFinals = 0.5;

}  // namespace

Budget::Budget(double seconds, std::function<double()> now)
    : seconds_(seconds), now_(std::move(now)), start_s_(now_()) {
  begin_problem(1);
}

void Budget::begin_problem(std::size_t problems_left) {
  KTUNE_CHECK(problems_left > 0);
  const double now_s = now_();
  share_s_ = std::max(0.0, start_s_ + seconds_ - now_s) / static_cast<double>(problems_left);
  share_end_s_ = now_s + share_s_;
}

bool Budget::ends_exploration(double finals_s) const {
  const double kept_s = std::clamp(finals_s, kLeastForFinals * share_s_, kMostForFinals * share_s_);
  return seconds_ > 0.0 && share_end_s_ - now_() <= kept_s;
}

}  // namespace ktune::sweep
