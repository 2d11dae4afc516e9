#pragma once

#include <memory>
#include <string>

#include "device/device.h"

namespace ktune::device {

/// A device that plays a script (script.h says what it may hold): no memory is touched and no time passes, so that
/// everything above a device can be run by the hundred. It does keep book of what was poisoned, written and overrun,
/// so that a caller who forgets a step gets the answer real memory would give. Throws Error(kUsage) for a bad script.
std::unique_ptr<Device> open_fake_device(const std::string& path);

}  // namespace ktune::device
