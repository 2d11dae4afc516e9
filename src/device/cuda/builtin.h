#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "device/cuda/context.h"
#include "device/cuda/modules.h"
#include "device/device.h"

namespace ktune::device::cuda {

/// What ktune_compare answers (device_kernels.cu has the same one); all zero before it runs.
struct Comparison {
  std::uint64_t elements = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t unwritten = 0;
  std::uint64_t first = 0;  ///< the complement of the smallest index; 0: none
  std::uint64_t worst_margin = 0;
  double margins = 0.0;  ///< sum of squares
  double size = 0.0;     ///< sum of |reference|
  double sizes = 0.0;    ///< sum of squares
};

/// ktune's own kernels on one GPU: what they do is said in device.h; all are queued on the context's stream.
class Builtin {
 public:
  /// Throws Error(kEnvironment).
  Builtin(Context& context, const std::function<std::string(const std::string& target)>& code);
  ~Builtin();
  Builtin(const Builtin&) = delete;
  Builtin& operator=(const Builtin&) = delete;

  model::Status initialise(DevicePtr base, const model::TensorPlan& plan, std::uint64_t seed);
  model::Status poison(DevicePtr pointer, std::int64_t bytes, std::uint32_t pattern);
  model::Result<std::int64_t> first_changed(DevicePtr pointer, std::int64_t bytes, std::uint32_t pattern);
  model::Result<CompareResult> compare(const OutputCheck& check, Share share);
  /// Compares, into the Comparison at `result`, which must be all zero; one kernel.
  model::Status queue_compare(const OutputCheck& check, Share share, DevicePtr result);
  /// What a Comparison says, once it is on the host. Reads the first wrong pair where the outputs still hold it.
  model::Result<CompareResult> decode(const Comparison& answer, const OutputCheck& check);
  model::Result<std::uint64_t> checksum(DevicePtr pointer, std::int64_t bytes);

  /// Overwrites `bytes` (a multiple of 128) of scratch, so that L2 holds nothing else, then drops the lines: two
  /// kernels (sm_80 and newer).
  model::Status evict(DevicePtr scratch, std::int64_t bytes, std::uint32_t seed);
  /// Reads `bytes` (a multiple of 16), for GPUs that cannot drop lines: one kernel.
  model::Status read_sweep(DevicePtr memory, std::int64_t bytes);
  /// Holds the stream until *flag (mapped host memory) reaches `goal`; *gave_up becomes `goal` after a second.
  model::Status hold(DevicePtr flag, DevicePtr gave_up, std::uint32_t goal);
  /// A kernel that lasts this long.
  model::Status spin_us(double us);

  /// A probe's kernel as a sequence to time: none for kNothing. `words` keeps its arguments; they must outlive it.
  /// kCopy copies with 16-byte accesses between memory at words[0] and words[1].
  BoundSequence bind_probe(const Probe& probe, std::array<std::uint64_t, 3>& words) const;

 private:
  enum Kernel {
    kFill,
    kPoison,
    kFirstChanged,
    kCompare,
    kChecksum,
    kEvictWrite,
    kEvictDiscard,
    kReadSweep,
    kHold,
    kSpin,
    kNothing,
    kCopy,
    kKernels
  };

  /// A launch over `items` threads of work (grid-stride; 0: one thread).
  CUlaunchConfig shape(std::uint64_t items) const;
  model::Status run(Kernel kernel, std::uint64_t items, void** arguments);
  model::Status fetch(void* to, std::size_t bytes);
  model::Status preset(const void* from, std::size_t bytes);

  Context& context_;
  CUmodule module_ = nullptr;
  CUfunction functions_[kKernels] = {};
  CUdeviceptr result_ = 0;  ///< a few words on the device for answers
};

}  // namespace ktune::device::cuda
