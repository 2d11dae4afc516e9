#include "device/cuda/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>

// A sample is: put L2 into the asked state, event, launches, event; all queued, up to a few hundred events, with one
// wait a batch. Behind an eviction (about 90 µs on an H200) the host is far ahead, so launch cost is hidden. In the
// warm state nothing runs before the kernel, so the stream is held until the batch is queued.
//
// Cold: L2 is filled with scratch lines that are then discarded, not written back: otherwise the kernel under test pays
// up to 12 µs for the write-back (that is `dirty`, which others' benchmarks report). Discarding costs 25 µs a sample, a
// read sweep 70.

namespace ktune::device::cuda {
namespace {

using model::CacheState;
using model::Outcome;
using model::Status;
using model::Timer;

constexpr std::int64_t kLeastEviction = std::int64_t{128} << 20;
constexpr std::int64_t kDirtyBytes = std::int64_t{256} << 20;  // as triton.testing.do_bench
constexpr int kBatch = 128;                                    // samples a wait
constexpr int kHeldCommands = 240;  // a stream takes about a thousand before the host must wait for it
constexpr int kHoldTries = 3;
constexpr int kGraphLaunches = 20;
constexpr double kCuptiTestUs = 20.0;
constexpr std::uint32_t kProbePattern = 0x3f9d70a4;  // zeros would draw less power

tl::unexpected<model::Failure> pass(const Status& status) { return tl::unexpected(status.error()); }

bool environment_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

}  // namespace

class Timing::Hold {
 public:
  Hold(std::uint32_t* flags, std::uint32_t goal) : flags_(flags), goal_(goal) {}
  ~Hold() { release(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  void release() {
    if (flags_ != nullptr) std::atomic_ref<std::uint32_t>(flags_[0]).store(goal_, std::memory_order_release);
  }
  /// Only after the stream was waited for.
  bool gave_up() const {
    return flags_ != nullptr && std::atomic_ref<std::uint32_t>(flags_[1]).load(std::memory_order_acquire) == goal_;
  }

 private:
  std::uint32_t* flags_;  ///< null: nothing is held
  std::uint32_t goal_;
};

Timing::Timing(Context& context, Builtin& builtin, Modules& modules)
    : context_(context), builtin_(builtin), modules_(modules) {}

Timing::~Timing() {
  const Driver& api = context_.api();
  for (const EventPair& pair : events_) {
    api.event_destroy(pair.start);
    api.event_destroy(pair.stop);
  }
  if (scratch_ != 0) api.mem_free(scratch_);
  if (clean_ != 0) api.mem_free(clean_);
  if (flags_ != nullptr) api.mem_free_host(flags_);
}

/// Off under tools that run kernels one at a time: the host would wait for a stream that waits for the host.
bool Timing::can_hold() const {
  static const bool serialised = environment_set("CUDA_INJECTION64_PATH") || environment_set("CUDA_LAUNCH_BLOCKING");
  return !serialised;
}

Status Timing::ensure_scratch() {
  if (Status status = context_.usable(); !status || scratch_ != 0) return status;
  const Driver& api = context_.api();
  evict_bytes_ = std::max(kLeastEviction, (2 * context_.facts().l2_bytes + 127) / 128 * 128);
  const std::int64_t bytes = std::max(evict_bytes_, kDirtyBytes);
  CUresult result = api.mem_alloc(&scratch_, static_cast<std::size_t>(bytes));
  if (result == CUDA_SUCCESS && context_.facts().sm < 80) {
    result = api.mem_alloc(&clean_, static_cast<std::size_t>(evict_bytes_));
    if (result == CUDA_SUCCESS) {
      result = api.memset_d32_async(clean_, 0, static_cast<std::size_t>(evict_bytes_ / 4), context_.stream());
    }
  }
  void* flags = nullptr;
  if (result == CUDA_SUCCESS) result = api.mem_host_alloc(&flags, 64, CU_MEMHOSTALLOC_DEVICEMAP);
  if (result == CUDA_SUCCESS) {
    flags_ = static_cast<std::uint32_t*>(flags);
    flags_[0] = flags_[1] = 0;
    result = api.mem_host_get_device_pointer(&flags_at_, flags, 0);
  }
  return context_.status(result, "allocating the eviction buffer");
}

Status Timing::ensure_events(int count) {
  const Driver& api = context_.api();
  while (events_.size() < static_cast<std::size_t>(count)) {
    EventPair pair;
    CUresult result = api.event_create(&pair.start, CU_EVENT_DEFAULT);
    if (result == CUDA_SUCCESS) result = api.event_create(&pair.stop, CU_EVENT_DEFAULT);
    if (Status status = context_.status(result, "creating an event"); !status) return status;
    events_.push_back(pair);
  }
  return {};
}

Status Timing::prepare_cache(CacheState state, BoundSequence& sequence) {
  switch (state) {
    case CacheState::kDirty:
      return context_.status(
          context_.api().memset_d32_async(scratch_, ++evictions_, kDirtyBytes / 4, context_.stream()), "filling L2");
    case CacheState::kWarm:
      return modules_.enqueue(sequence);
    case CacheState::kCold:
      break;
  }
  if (context_.facts().sm < 80) return builtin_.read_sweep(clean_, evict_bytes_);
  return builtin_.evict(scratch_, evict_bytes_, ++evictions_ * 0x9e3779b9u);
}

int Timing::preparing_kernels(CacheState state, const BoundSequence& sequence) const {
  if (state == CacheState::kDirty) return 0;  // a memset is no kernel
  if (state == CacheState::kWarm) return static_cast<int>(sequence.size());
  return context_.facts().sm < 80 ? 1 : 2;
}

int Timing::batch_size(CacheState state, const std::vector<BoundSequence>& rotation) const {
  if (state != CacheState::kWarm) return kBatch;
  std::size_t longest = 1;
  for (const BoundSequence& sequence : rotation) longest = std::max(longest, sequence.size());
  return std::clamp(kHeldCommands / static_cast<int>(2 * longest + 2), 1, kBatch);
}

Status Timing::events_batch(std::vector<BoundSequence>& rotation, int first, int count, CacheState state,
                            Samples& times) {
  const Driver& api = context_.api();
  for (int attempt = 1;; ++attempt) {
    const bool held = state == CacheState::kWarm && can_hold();
    Hold hold(held ? flags_ : nullptr, ++goal_);
    if (held) {
      if (Status status = builtin_.hold(flags_at_, flags_at_ + 4, goal_); !status) return status;
    }
    for (int i = 0; i < count; ++i) {
      BoundSequence& sequence = rotation[static_cast<std::size_t>(first + i) % rotation.size()];
      const EventPair& pair = events_[static_cast<std::size_t>(i)];
      if (Status status = prepare_cache(state, sequence); !status) return status;
      CUresult result = api.event_record(pair.start, context_.stream());
      if (result != CUDA_SUCCESS) return context_.status(result, "recording an event");
      if (Status status = modules_.enqueue(sequence); !status) return status;
      result = api.event_record(pair.stop, context_.stream());
      if (result != CUDA_SUCCESS) return context_.status(result, "recording an event");
    }
    hold.release();
    if (Status status = context_.synchronize("running the timed launches"); !status) return status;
    if (!hold.gave_up()) break;
    if (attempt == kHoldTries) {
      return model::fail(Outcome::kLaunchFailed, "the stream cannot be held: kernels seem to run one at a time",
                         "a profiler, a debugger or CUDA_LAUNCH_BLOCKING serialises launches");
    }
  }
  for (int i = 0; i < count; ++i) {
    const EventPair& pair = events_[static_cast<std::size_t>(i)];
    float ms = 0.0f;
    if (Status status = context_.status(api.event_elapsed_time(&ms, pair.start, pair.stop), "reading an event");
        !status) {
      return status;
    }
    times.push_back(static_cast<double>(ms) * 1e3);
  }
  return {};
}

/// A sample is the span from its first kernel's start to its last one's end. Records are told apart by counting:
/// exactly as many as were launched must come back. Warm samples are held as with events: a call of several kernels
/// would have the launches' gaps in its span.
Status Timing::cupti_batch(std::vector<BoundSequence>& rotation, int first, int count, CacheState state,
                           Samples& times) {
  if (std::string problem = cupti_->start(); !problem.empty()) return model::fail(Outcome::kLaunchFailed, problem);
  const bool held = state == CacheState::kWarm && can_hold();
  Hold hold(held ? flags_ : nullptr, ++goal_);
  Status queued;
  if (held) queued = builtin_.hold(flags_at_, flags_at_ + 4, goal_);
  std::size_t expected = held ? 1 : 0;
  for (int i = 0; i < count && queued; ++i) {
    BoundSequence& sequence = rotation[static_cast<std::size_t>(first + i) % rotation.size()];
    expected += static_cast<std::size_t>(preparing_kernels(state, sequence)) + sequence.size();
    queued = prepare_cache(state, sequence);
    if (queued) queued = modules_.enqueue(sequence);
  }
  hold.release();
  if (queued) queued = context_.synchronize("running the timed launches");
  std::string problem;
  const std::vector<KernelRecord> records = cupti_->stop(problem);
  if (!queued) return queued;
  if (problem.empty() && records.size() != expected) {
    problem = fmt::format("CUPTI recorded {} kernels of {}", records.size(), expected);
  }
  if (problem.empty() && hold.gave_up()) problem = "the stream cannot be held: kernels seem to run one at a time";
  if (!problem.empty()) return model::fail(Outcome::kLaunchFailed, problem);
  std::size_t at = held ? 1 : 0;
  for (int i = 0; i < count; ++i) {
    const BoundSequence& sequence = rotation[static_cast<std::size_t>(first + i) % rotation.size()];
    at += static_cast<std::size_t>(preparing_kernels(state, sequence));
    std::uint64_t start = ~std::uint64_t{0};
    std::uint64_t end = 0;
    for (std::size_t k = 0; k < sequence.size(); ++k, ++at) {
      start = std::min(start, records[at].start_ns);
      end = std::max(end, records[at].end_ns);
    }
    times.push_back(static_cast<double>(end - start) * 1e-3);
  }
  return {};
}

/// A kernel of known length must come back with that length, or CUPTI's times mean nothing here.
Status Timing::run_cupti_test() {
  if (std::string problem = cupti_missing(); !problem.empty()) return model::fail(Outcome::kRejected, problem);
  if (std::string problem = cupti_->start(); !problem.empty()) return model::fail(Outcome::kRejected, problem);
  Status queued;
  for (int i = 0; i < 4 && queued; ++i) queued = builtin_.spin_us(kCuptiTestUs);  // the first ones may be odd
  if (queued) queued = context_.synchronize("CUPTI's self-test");
  std::string problem;
  const std::vector<KernelRecord> records = cupti_->stop(problem);
  if (!queued) return queued;
  if (problem.empty() && records.size() != 4) problem = fmt::format("CUPTI recorded {} kernels of 4", records.size());
  if (problem.empty()) {
    const double us = static_cast<double>(records[3].end_ns - records[3].start_ns) * 1e-3;
    if (us < 0.9 * kCuptiTestUs || us > 1.1 * kCuptiTestUs + 2.0) {
      problem = fmt::format("CUPTI says {:.1f} µs of a kernel that lasts {:.0f}", us, kCuptiTestUs);
    }
  }
  if (!problem.empty()) return model::fail(Outcome::kRejected, problem);
  return {};
}

Status Timing::test_cupti() {
  if (Status status = context_.usable(); !status) return status;
  if (!cupti_test_) cupti_test_ = run_cupti_test();
  return *cupti_test_;
}

Status Timing::replay(CUgraphExec graph, int count, int launches, Samples& times) {
  const Driver& api = context_.api();
  CUresult result = api.graph_launch(graph, context_.stream());  // the first launch uploads it
  if (Status status = context_.status(result, "launching the graph"); !status) return status;
  if (Status status = context_.synchronize("running the graph"); !status) return status;
  for (int i = 0; i < count; ++i) {
    Hold hold(can_hold() ? flags_ : nullptr, ++goal_);
    if (can_hold()) {
      if (Status status = builtin_.hold(flags_at_, flags_at_ + 4, goal_); !status) return status;
    }
    result = api.event_record(events_[0].start, context_.stream());
    if (result == CUDA_SUCCESS) result = api.graph_launch(graph, context_.stream());
    if (result == CUDA_SUCCESS) result = api.event_record(events_[0].stop, context_.stream());
    hold.release();
    if (Status status = context_.status(result, "launching the graph"); !status) return status;
    if (Status status = context_.synchronize("running the graph"); !status) return status;
    float ms = 0.0f;
    result = api.event_elapsed_time(&ms, events_[0].start, events_[0].stop);
    if (Status status = context_.status(result, "reading an event"); !status) return status;
    times.push_back(static_cast<double>(ms) * 1e3 / launches);
  }
  return {};
}

/// Steady state: many calls on rotating sets in one graph; a sample is a replay's time over its calls. What L2 holds is
/// what the calls before left.
model::Result<Timing::Samples> Timing::graph_samples(std::vector<BoundSequence>& rotation, int count) {
  const Driver& api = context_.api();
  const int sets = static_cast<int>(rotation.size());
  const int calls = (std::max(kGraphLaunches, sets) + sets - 1) / sets * sets;
  CUresult result = api.stream_begin_capture(context_.stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  if (Status status = context_.status(result, "capturing a graph"); !status) return pass(status);
  Status queued;
  for (int i = 0; i < calls && queued; ++i) queued = modules_.enqueue(rotation[static_cast<std::size_t>(i % sets)]);
  CUgraph graph = nullptr;
  result = api.stream_end_capture(context_.stream(), &graph);
  CUgraphExec executable = nullptr;
  if (queued) queued = context_.status(result, "capturing a graph");
  if (queued) queued = context_.status(api.graph_instantiate(&executable, graph, 0), "making a graph");
  Samples times;
  if (queued) queued = replay(executable, count, calls, times);
  if (executable != nullptr) api.graph_exec_destroy(executable);
  if (graph != nullptr) api.graph_destroy(graph);
  if (!queued) return pass(queued);
  return times;
}

model::Result<std::vector<double>> Timing::time(std::span<const LaunchSequence> rotation,
                                                const TimingRequest& request) {
  if (rotation.empty()) return model::fail(Outcome::kLaunchFailed, "nothing to time");
  if (Status status = ensure_scratch(); !status) return pass(status);
  if (Status status = ensure_events(kBatch); !status) return pass(status);
  std::vector<BoundSequence> bound;
  for (const LaunchSequence& sequence : rotation) {
    auto one = modules_.bind(sequence);
    if (!one) return tl::unexpected(one.error());
    bound.push_back(std::move(*one));
  }
  return time_bound(bound, request);
}

model::Result<Timing::Samples> Timing::time_bound(std::vector<BoundSequence>& rotation, const TimingRequest& request) {
  if (request.timer == Timer::kGraph) return graph_samples(rotation, request.samples);
  const bool with_cupti = request.timer == Timer::kCupti;
  if (!with_cupti && request.timer != Timer::kEvents) {
    return model::fail(Outcome::kLaunchFailed, fmt::format("a GPU has no timer '{}'", model::name_of(request.timer)));
  }
  if (with_cupti) {
    if (Status status = test_cupti(); !status) return pass(status);
  }
  const int batch = batch_size(request.cache_state, rotation);
  Samples times;
  for (int first = 0; first < request.samples; first += batch) {
    const int count = std::min(batch, request.samples - first);
    const Status status = with_cupti ? cupti_batch(rotation, first, count, request.cache_state, times)
                                     : events_batch(rotation, first, count, request.cache_state, times);
    if (!status) return pass(status);
  }
  return times;
}

/// As a variant is timed, after one launch of its own that is neither held nor timed.
model::Result<std::vector<double>> Timing::time_probe(const Probe& probe, const TimingRequest& request) {
  if (Status status = ensure_scratch(); !status) return pass(status);
  if (Status status = ensure_events(kBatch); !status) return pass(status);
  const Driver& api = context_.api();
  std::array<std::uint64_t, 3> words{};
  CUdeviceptr memory = 0;
  Status status;
  if (probe.kind == Probe::Kind::kCopy) {
    status = context_.status(api.mem_alloc(&memory, static_cast<std::size_t>(2 * probe.bytes)), "allocating memory");
    if (status) status = builtin_.poison(memory, 2 * probe.bytes, kProbePattern);
    words = {memory, memory + static_cast<CUdeviceptr>(probe.bytes), 0};
  }
  std::vector<BoundSequence> rotation{builtin_.bind_probe(probe, words)};
  if (status) status = modules_.enqueue(rotation.front());
  if (status) status = context_.synchronize("running a probe");
  model::Result<Samples> times = Samples();
  if (status) times = time_bound(rotation, request);
  if (memory != 0) api.mem_free(memory);
  if (!status) return pass(status);
  return times;
}

Status Timing::evict() {
  if (Status status = ensure_scratch(); !status) return status;
  BoundSequence none;
  return prepare_cache(CacheState::kCold, none);
}

const std::string& Timing::cupti_missing() {
  if (!cupti_) cupti_ = std::make_unique<Cupti>();
  return cupti_->problem();
}

std::string Timing::cupti_problem() {
  const Status tested = test_cupti();
  return tested ? std::string() : tested.error().reason;
}

std::vector<Timer> Timing::timers() {
  std::vector<Timer> timers{Timer::kEvents};
  const bool failed = cupti_test_ && !*cupti_test_;
  if (!failed && cupti_missing().empty()) timers.push_back(Timer::kCupti);
  timers.push_back(Timer::kGraph);
  return timers;
}

}  // namespace ktune::device::cuda
