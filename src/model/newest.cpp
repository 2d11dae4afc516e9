#include "model/newest.h"

namespace ktune::model {

bool NewestPick::offer(const std::string& subject, const std::string& timing) {
  std::set<std::string>& shown = shown_[subject];
  if (shown.contains("") || (timing.empty() && !shown.empty())) return false;
  return shown.insert(timing).second;
}

}  // namespace ktune::model
