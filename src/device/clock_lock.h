#pragma once

#include <sys/types.h>

#include <string>

// `--lock-clocks`: a GPU's SM clock held at one frequency while a command runs. A guard process sets the lock and
// waits for its pipe to close, so that the clock is given back on every way out: a normal end, an error, Ctrl-C, and
// the death of the process that asked, by whatever signal.

namespace ktune::device {

/// NVML's part in it; tests put their own functions here. Each returns NVML's result, 0 for success.
struct ClockFunctions {
  void* device = nullptr;
  int (*lock)(void* device, unsigned low_mhz, unsigned high_mhz) = nullptr;
  int (*reset)(void* device) = nullptr;
  int (*sm_clock)(void* device, unsigned* mhz) = nullptr;
};

/// What the guard saw of the clock while it was locked.
struct ClockReport {
  int looks = 0;
  int held = 0;  ///< looks within 1 % of the asked clock
  int lowest_mhz = 0;
  int highest_mhz = 0;
  bool restored = false;
};

/// One sentence for the user when the clock was not held, or may not have been given back; empty when all is well.
std::string clock_message(const ClockReport& report, int asked_mhz);

class ClockLock {
 public:
  /// Locks the GPU that the driver counts as `uuid` ("GPU-…"). Throws Error(kEnvironment): NVML missing, not permitted
  /// (with the remedy), a clock the GPU does not have.
  ClockLock(const std::string& uuid, int mhz);
  /// `load` is called in the guard process.
  ClockLock(ClockFunctions (*load)(std::string& problem), int mhz);
  /// Gives the clock back.
  ~ClockLock();
  ClockLock(const ClockLock&) = delete;
  ClockLock& operator=(const ClockLock&) = delete;

  /// Gives the clock back now and says how it was held.
  ClockReport release();
  int mhz() const { return mhz_; }

 private:
  template <typename Load>
  void start(const Load& load);

  int mhz_;
  pid_t guard_ = -1;
  int to_guard_ = -1;
  int from_guard_ = -1;
};

}  // namespace ktune::device
