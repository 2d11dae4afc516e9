#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/facts.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "model/timing.h"

// The one interface between ktune and a device. It lives in the worker process; the parent never makes one.
// Every call that may fail on a faulty variant returns a value; a device that cannot be opened throws Error
// (kEnvironment) with what to do about it.

namespace ktune::device {

/// An address in the device's memory.
using DevicePtr = std::uint64_t;
/// A loaded KernelBinary.
using ModuleId = int;

/// A launch with every argument's bytes in place.
struct PreparedLaunch {
  ModuleId module = -1;
  std::string kernel;
  std::vector<std::vector<std::byte>> args;
  model::LaunchPlan plan;
};

/// The launches of one call of the op, in order (a backward pass and its final reduction are two).
using LaunchSequence = std::vector<PreparedLaunch>;

/// What an output and the reference's twin of it held before the run.
struct Poison {
  std::uint32_t out = 0;
  std::uint32_t reference = 0;
  bool may_stay = true;  ///< elements that both sides leave alone are right; else the reference wrote every element
};

/// Which elements of a tensor are looked at: one run of kShareRun in `period`, the one numbered `phase`.
struct Share {
  std::int64_t period = 1;
  std::int64_t phase = 0;
};
inline constexpr std::int64_t kShareRun = 1024;

struct CompareResult {
  std::int64_t elements = 0;    ///< written by either side
  std::int64_t mismatches = 0;  ///< beyond tolerance, NaN or infinity where the reference has none, or vice versa
  std::int64_t unwritten = 0;   ///< still poison where the reference is not, or written where the reference is poison
  std::int64_t first = -1;      ///< storage index of the first mismatch or unwritten element
  double first_out = 0.0;
  double first_ref = 0.0;
  double worst_margin = 0.0;  ///< max |out − ref| / (atol + rtol·|ref|) over finite pairs
  double rms_margin = 0.0;    ///< their root mean square
  double mean_size = 0.0;     ///< mean of |ref| over finite elements
  double rms_size = 0.0;      ///< their root mean square
};

/// The most that rms_margin may be for so many elements: tolerance.rms, and up to 1 for so few that their root mean
/// square is hardly less than their maximum.
double most_rms_margin(const model::Tolerance& tolerance, std::int64_t elements);
/// Whether an output may be called right.
bool is_right(const CompareResult& result, const model::Tolerance& tolerance);

/// Memory that is given its value back before a launch: that of `from`, or where there is none a pattern.
struct Renewal {
  DevicePtr to = 0;
  DevicePtr from = 0;
  std::int64_t bytes = 0;
  std::uint32_t pattern = 0;
};

/// An output to look at after a launch.
struct OutputCheck {
  DevicePtr out = 0;
  DevicePtr reference = 0;
  model::TensorPlan plan;
  Poison poison;
};

/// One call of an op on one of its input sets, with what makes its operands fresh and what shows that it did its work.
struct TimedCall {
  LaunchSequence launches;
  std::vector<Renewal> renewals;
  std::vector<OutputCheck> checks;
};

/// The first of the timed launches that was found wrong.
struct WrongLaunch {
  int sample = 0;         ///< counted from 0, in launches
  std::size_t set = 0;    ///< of the rotation
  std::size_t check = 0;  ///< of that set's checks
  CompareResult result;
};

struct Timed {
  std::vector<double> time_us;
  std::optional<WrongLaunch> wrong;
};

struct TimingRequest {
  int samples = 1;
  model::CacheState cache_state = model::CacheState::kCold;
  model::Timer timer = model::Timer::kEvents;
};

/// What one call moved between the GPU and its memory, in bytes.
struct DramTraffic {
  std::int64_t read = 0;
  std::int64_t written = 0;  ///< what stayed dirty in L2 included

  static constexpr bool kStrict = true;
  static void fields(auto& self, auto&& field) {
    field("read", self.read);
    field("written", self.written);
  }
};

/// Whether `cold` is cold: a read of memory that was in L2 before the eviction.
struct EvictionProof {
  std::int64_t bytes = 0;      ///< that were read
  std::int64_t cold_read = 0;  ///< of them from DRAM, after the eviction
  std::int64_t warm_read = 0;  ///< of them from DRAM, without one: shows that the counter can tell
  std::int64_t written = 0;    ///< to DRAM during the cold read: dirty lines the eviction left

  static constexpr bool kStrict = true;
  static void fields(auto& self, auto&& field) {
    field("bytes", self.bytes);
    field("cold_read", self.cold_read);
    field("warm_read", self.warm_read);
    field("written", self.written);
  }
};

/// A kernel of the device's own whose time is known, or ought to be the same each time.
struct Probe {
  enum class Kind {
    kNothing,  ///< no kernel at all: what two events cost (not with cupti or graph)
    kEmpty,    ///< a kernel that does nothing
    kSpin,     ///< a kernel that lasts `us` by the GPU's own clock
    kCopy,     ///< a copy of `bytes`
  };
  Kind kind = Kind::kNothing;
  double us = 0.0;
  std::int64_t bytes = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const model::DeviceFacts& facts() const = 0;
  virtual model::MachineState state() = 0;
  /// Says what the next load is: the op, Problem::text() and Variant::text() ("" for the reference). Only a scripted
  /// device listens.
  virtual void announce(const std::string& /*op*/, const std::string& /*problem*/, const std::string& /*variant*/) {}

  // --- memory. Base addresses are at least 256-byte aligned.
  virtual model::Result<DevicePtr> allocate(std::int64_t bytes) = 0;
  /// Bytes that allocate could give now; 0: unknown.
  virtual std::int64_t free_memory() { return facts().memory_bytes; }
  virtual void release(DevicePtr pointer) = 0;
  /// Fills the storage of a tensor (base = element 0, before `offset`) as plan.init says, from a seed: the same
  /// values for the same seed, dtype and logical index, whatever the strides. Storage between rows gets poison.
  virtual model::Status initialise(DevicePtr base, const model::TensorPlan& plan, std::uint64_t seed) = 0;
  /// Writes a 32-bit pattern over bytes (a multiple of 4 not required; the tail takes the pattern's first bytes).
  virtual model::Status poison(DevicePtr pointer, std::int64_t bytes, std::uint32_t pattern) = 0;
  virtual model::Status copy(DevicePtr to, DevicePtr from, std::int64_t bytes) = 0;
  virtual model::Status read(void* to, DevicePtr from, std::int64_t bytes) = 0;
  virtual model::Status write(DevicePtr to, const void* from, std::int64_t bytes) = 0;
  /// Index of the first byte that differs from the repeated pattern; −1: none.
  virtual model::Result<std::int64_t> first_changed(DevicePtr pointer, std::int64_t bytes, std::uint32_t pattern) = 0;
  /// Compares the storage of an output with the reference's (host_memory.h says how); `first` is an index of all.
  virtual model::Result<CompareResult> compare(DevicePtr out, DevicePtr reference, const model::TensorPlan& plan,
                                               Poison poison, Share share = {}) = 0;
  /// Order-dependent 64-bit checksum of memory.
  virtual model::Result<std::uint64_t> checksum(DevicePtr pointer, std::int64_t bytes) = 0;

  // --- kernels
  virtual model::Result<ModuleId> load(const model::KernelBinary& binary) = 0;
  virtual void unload(ModuleId module) = 0;
  /// Resources the driver reports for an entry (LaunchFailed if the module has no such entry).
  virtual model::Result<model::KernelResources> resources(ModuleId module, const std::string& kernel) = 0;
  /// Checks a launch against the device's limits without launching: kRejected with the reason ("needs 300 KiB of
  /// shared memory, the device has 227 KiB", "640 threads × 128 registers exceed 65536").
  virtual model::Status check(const PreparedLaunch& launch) = 0;
  /// Enqueues; errors may surface here or at synchronize.
  virtual model::Status launch(const LaunchSequence& sequence) = 0;
  virtual model::Status synchronize() = 0;

  // --- time
  /// Times `request.samples` calls, rotating through `rotation` (the same op on different input sets; at least one),
  /// each in the asked cache state; microseconds in order. Each finds its operands renewed, outside the timed part and
  /// before the eviction, and part of its outputs is compared afterwards (share_of). All verified and launched before.
  virtual model::Result<Timed> time(std::span<const TimedCall> rotation, const TimingRequest& request) = 0;
  /// Timers this device offers; the first is the default.
  virtual std::vector<model::Timer> timers() const = 0;
  /// Why a timer cannot be had: "another tool in this process has CUPTI (error 39)"; empty when it can. May run its
  /// self-test, once: timers() lists what is not known to fail.
  virtual std::string timer_problem(model::Timer timer);
  /// Times a kernel of the device's own; kRejected where it has none.
  virtual model::Result<std::vector<double>> time_probe(const Probe& probe, const TimingRequest& request);

  // --- hardware counters. Only in a process that times nothing: they slow launches down and change clocks.
  /// What one call moves, from a clean L2. kRejected, with the remedy as detail, where counters cannot be had.
  virtual model::Result<DramTraffic> traffic(const TimedCall& call);
  virtual model::Result<EvictionProof> prove_eviction();
};

/// Renews a call's operands; queued.
model::Status renew(Device& device, const TimedCall& call);
/// Renews, then launches; queued.
model::Status launch_fresh(Device& device, const TimedCall& call);
/// How much of an output is compared after one timed launch: `most_bytes` of it, another part each time. Which one
/// nobody can know beforehand: the numbers differ from process to process.
Share share_of(const model::TensorPlan& plan, std::int64_t most_bytes, int launch);
/// Compares a share of each output of a call: for devices that wait for each sample.
model::Result<std::optional<WrongLaunch>> check_outputs(Device& device, std::span<const TimedCall> rotation, int sample,
                                                        std::int64_t most_bytes);

/// Bytes of an argument as the kernel reads them.
std::vector<std::byte> argument_bytes(const model::ArgPlan& arg, DevicePtr tensor_address);

/// The CUDA toolkit whose compiler makes ktune's own kernels.
struct Toolkit {
  std::string name;  ///< "NVRTC 13.0"
  int major = 0;
  int minor = 0;
};

/// What a GPU needs of a compiler for ktune's own kernels. Handed in from above: a device compiles nothing itself. Both
/// throw Error(kEnvironment) when there is no compiler.
struct BuiltinCompiler {
  std::function<Toolkit()> toolkit;
  std::function<std::string(const std::string& target)> code;  ///< machine code for "sm_90"
};

/// "cuda:0", "cpu", "fake:FILE"; "auto" is cuda:0 if it opens, else cpu. Throws Error(kEnvironment | kUsage).
std::unique_ptr<Device> open_device(const std::string& name, const BuiltinCompiler& compiler);
/// What `auto` stands for here, without opening it in this process (loads the driver and counts devices in a child).
std::string resolve_device_name(const std::string& name);

}  // namespace ktune::device
