#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

namespace ktune::model {

/// Which of several sessions' records of one problem a report shows: the newest, one for each way of timing (timer and
/// cache state), never the best of all time. Offer records newest first; `offer` says whether to show this one.
///
/// A record that has no timing (everything failed) hides every older one: what no longer works is not reported as
/// working. A newer record of any timing hides older ones without.
class NewestPick {
 public:
  /// `subject`: op, problem and device, in any unambiguous spelling. `timing`: timer and cache state, "" without.
  bool offer(const std::string& subject, const std::string& timing);

 private:
  std::map<std::string, std::set<std::string>> shown_;
};

}  // namespace ktune::model
