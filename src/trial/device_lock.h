#pragma once

#include <functional>
#include <optional>
#include <string>

namespace ktune::trial {

/// How long a command waits, in seconds, while another one measures on its device.
inline constexpr double kDeviceWaitS = 3600.0;

/// A lock on a device, by its UUID, against other processes that measure on it: two measurements at once would disturb
/// each other. Ends with its holder, however that ends.
class DeviceLock {
 public:
  DeviceLock() = default;
  ~DeviceLock();
  DeviceLock(DeviceLock&& other) noexcept;
  DeviceLock& operator=(DeviceLock&& other) noexcept;
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;

  /// Takes the lock, waiting up to `limit_s`; `say` hears once that it waits, and for whom. Throws
  /// Error(kEnvironment) naming the holder and `device_name` past the limit, Error(kInterrupted) after Ctrl-C.
  static DeviceLock acquire(const std::string& uuid, const std::string& device_name, double limit_s,
                            const std::function<void(const std::string&)>& say);

  bool held() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace ktune::trial
