#include "probe/device_look.h"

#include "trial/worker.h"

namespace ktune::probe {

DeviceLook look_at_device(const std::string& device) {
  trial::Worker worker(device);
  return {worker.facts(), worker.state()};
}

}  // namespace ktune::probe
