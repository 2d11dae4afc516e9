#pragma once

#include <string>

#include "model/facts.h"

namespace ktune::probe {

/// A device's facts, and how it is right now.
struct DeviceLook {
  model::DeviceFacts facts;
  model::MachineState state;
};

/// Asks a worker, which ends at once. Throws Error(kEnvironment) where there is no such device.
DeviceLook look_at_device(const std::string& device);

}  // namespace ktune::probe
