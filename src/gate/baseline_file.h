#pragma once

#include <string>

#include "base/fd.h"
#include "verdict/baseline.h"

// A baseline on disk: verdict/baseline.h says what is in it.

namespace ktune::gate {

/// Throws Error(kNoData) where there is no such file, else as verdict::parse_baseline.
verdict::Baseline load_baseline(const std::string& path);

/// Keeps other ktunes from changing the baselines of a folder between a load and a save. A folder that cannot be locked
/// (some network file systems) is left unlocked.
class BaselineLock {
 public:
  explicit BaselineLock(const std::string& path);

 private:
  Fd folder_;
};

/// Throws Error(kUsage) as verdict::check_baseline, Error(kEnvironment) when it cannot be written.
void save_baseline(const verdict::Baseline& baseline, const std::string& path);

}  // namespace ktune::gate
