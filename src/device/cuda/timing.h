#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/cuda/builtin.h"
#include "device/cuda/context.h"
#include "device/cuda/cupti.h"
#include "device/cuda/modules.h"
#include "device/device.h"

namespace ktune::device::cuda {

/// Times launches on one GPU.
class Timing {
 public:
  Timing(Context& context, Builtin& builtin, Modules& modules);
  ~Timing();
  Timing(const Timing&) = delete;
  Timing& operator=(const Timing&) = delete;

  model::Result<std::vector<double>> time(std::span<const LaunchSequence> rotation, const TimingRequest& request);
  model::Result<std::vector<double>> time_probe(const Probe& probe, const TimingRequest& request);
  /// CUPTI is among them unless it is known not to work.
  std::vector<model::Timer> timers();
  /// Why CUPTI's times cannot be had; empty when they can. Runs its self-test, once.
  std::string cupti_problem();
  /// Leaves L2 without lines of anybody else's and none of them dirty; queued.
  model::Status evict();

 private:
  struct EventPair {
    CUevent start = nullptr;
    CUevent stop = nullptr;
  };
  /// Raises the held stream's flag when it goes out of scope, so that no early return leaves the stream held.
  class Hold;

  /// The next samples of a batch: from `first`, `count` of them.
  using Samples = std::vector<double>;
  model::Status events_batch(std::vector<BoundSequence>& rotation, int first, int count, model::CacheState state,
                             Samples& times);
  model::Status cupti_batch(std::vector<BoundSequence>& rotation, int first, int count, model::CacheState state,
                            Samples& times);
  model::Result<Samples> graph_samples(std::vector<BoundSequence>& rotation, int count);
  model::Status replay(CUgraphExec graph, int count, int launches, Samples& times);
  /// Puts L2 into the asked state; queued.
  model::Status prepare_cache(model::CacheState state, BoundSequence& sequence);
  /// How many kernels prepare_cache launches.
  int preparing_kernels(model::CacheState state, const BoundSequence& sequence) const;
  model::Status ensure_scratch();
  model::Status ensure_events(int count);
  model::Result<Samples> time_bound(std::vector<BoundSequence>& rotation, const TimingRequest& request);
  /// Why the library cannot be used at all; loads it.
  const std::string& cupti_missing();
  model::Status test_cupti();
  model::Status run_cupti_test();
  int batch_size(model::CacheState state, const std::vector<BoundSequence>& rotation) const;
  bool can_hold() const;

  Context& context_;
  Builtin& builtin_;
  Modules& modules_;
  std::vector<EventPair> events_;
  CUdeviceptr scratch_ = 0;  ///< overwritten to evict
  CUdeviceptr clean_ = 0;    ///< read to evict, below sm_80
  std::int64_t evict_bytes_ = 0;
  std::uint32_t evictions_ = 0;
  std::uint32_t* flags_ = nullptr;  ///< mapped host memory: [0] the hold's flag, [1] the last goal it gave up on
  CUdeviceptr flags_at_ = 0;
  std::uint32_t goal_ = 0;
  std::unique_ptr<Cupti> cupti_;
  std::optional<model::Status> cupti_test_;  ///< what the self-test said, once it ran
};

}  // namespace ktune::device::cuda
