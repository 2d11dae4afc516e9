#pragma once

#include <memory>

#include "device/clock_lock.h"
#include "model/facts.h"

namespace CLI {
class App;
}

namespace ktune::cli {

/// Binds --lock-clocks (0: off).
void add_clock_option(CLI::App& app, int& mhz);

/// Holds a GPU's clock for a command's run, and says on stderr when it was not held.
class HeldClock {
 public:
  /// Does nothing for 0. Throws Error(kUsage) where the device has no clock to lock, Error(kEnvironment) where it may
  /// not be locked.
  HeldClock(int mhz, const model::DeviceFacts& facts);
  ~HeldClock();
  HeldClock(const HeldClock&) = delete;
  HeldClock& operator=(const HeldClock&) = delete;

 private:
  std::unique_ptr<device::ClockLock> lock_;
};

}  // namespace ktune::cli
