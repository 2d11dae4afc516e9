#pragma once

#include <functional>
#include <memory>

#include "device/cuda/context.h"
#include "device/device.h"
#include "model/outcome.h"

namespace ktune::device::cuda {

/// DRAM bytes of whatever runs on one GPU, with CUPTI's range profiler. A process that opens this must time nothing.
class Counters {
 public:
  /// kRejected, with the remedy as detail, where counters are forbidden or missing.
  static model::Result<std::unique_ptr<Counters>> open(Context& context);
  ~Counters();
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  /// DRAM bytes while `work` runs once; it must wait for what it launched.
  model::Result<DramTraffic> measure(const std::function<model::Status()>& work);

 private:
  struct Impl;
  explicit Counters(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ktune::device::cuda
