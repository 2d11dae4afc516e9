#pragma once

#include <cstddef>
#include <functional>

namespace ktune::sweep {

/// The wall clock of a sweep and its limit. The limit is shared over the problems: each may use what is left divided by
/// the problems left, itself included. What a problem leaves unused goes to those after it.
class Budget {
 public:
  /// `seconds` 0: no limit. `now` gives seconds since any fixed moment.
  Budget(double seconds, std::function<double()> now);

  double now() const { return now_(); }
  double elapsed_s() const { return now_() - start_s_; }
  bool is_used_up() const { return seconds_ > 0.0 && elapsed_s() >= seconds_; }

  /// A problem begins; `problems_left` counts it.
  void begin_problem(std::size_t problems_left);
  /// True once what is left of the problem's share is kept for its finals: `finals_s`, what they are expected to take,
  /// but no less than a tenth of the share and no more than half of it. Never without a limit.
  bool ends_exploration(double finals_s) const;

 private:
  double seconds_;
  std::function<double()> now_;
  double start_s_;
  double share_s_ = 0.0;
  double share_end_s_ = 0.0;
};

}  // namespace ktune::sweep
