#include "device/cuda/timed_stream.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string_view>

// Cold: L2 is filled with scratch lines that are then discarded, not written back: otherwise the kernel under test pays
// up to 12 µs for the write-back (that is `dirty`, which others' benchmarks report). Discarding costs 25 µs a sample, a
// read sweep 70.

namespace ktune::device::cuda {
namespace {

using model::CacheState;
using model::Status;

constexpr std::int64_t kLeastEviction = std::int64_t{128} << 20;
constexpr std::int64_t kDirtyBytes = std::int64_t{256} << 20;  // as triton.testing.do_bench
constexpr int kBatch = 128;                                    // samples a wait
constexpr int kHeldCommands = 240;  // a stream takes about a thousand before the host must wait for it

bool environment_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

}  // namespace

TimedStream::~TimedStream() {
  const Driver& api = context_.api();
  for (const EventPair& pair : events_) {
    api.event_destroy(pair.start);
    api.event_destroy(pair.stop);
  }
  if (scratch_ != 0) api.mem_free(scratch_);
  if (clean_ != 0) api.mem_free(clean_);
  if (flags_ != nullptr) api.mem_free_host(flags_);
}

bool TimedStream::can_hold() const {
  static const bool serialised = environment_set("CUDA_INJECTION64_PATH") || environment_set("CUDA_LAUNCH_BLOCKING");
  return !serialised;
}

Status TimedStream::prepare() {
  const Status scratch = prepare_scratch();
  return scratch ? prepare_events() : scratch;
}

Status TimedStream::prepare_scratch() {
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

Status TimedStream::prepare_events() {
  const Driver& api = context_.api();
  while (events_.size() < static_cast<std::size_t>(kBatch)) {
    EventPair pair;
    CUresult result = api.event_create(&pair.start, CU_EVENT_DEFAULT);
    if (result == CUDA_SUCCESS) result = api.event_create(&pair.stop, CU_EVENT_DEFAULT);
    if (Status status = context_.status(result, "creating an event"); !status) return status;
    events_.push_back(pair);
  }
  return {};
}

Status TimedStream::set_cache(CacheState state, BoundSequence& sequence) {
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

int TimedStream::preparing_kernels(CacheState state, const BoundSequence& sequence) const {
  if (state == CacheState::kDirty) return 0;  // a memset is no kernel
  if (state == CacheState::kWarm) return static_cast<int>(sequence.size());
  return context_.facts().sm < 80 ? 1 : 2;
}

Status TimedStream::evict() {
  if (Status status = prepare_scratch(); !status) return status;
  BoundSequence none;
  return set_cache(CacheState::kCold, none);
}

int TimedStream::batch_size(CacheState state, const std::vector<BoundSequence>& rotation) const {
  if (state != CacheState::kWarm) return kBatch;
  std::size_t longest = 1;
  for (const BoundSequence& sequence : rotation) longest = std::max(longest, sequence.size());
  return std::clamp(kHeldCommands / static_cast<int>(2 * longest + 2), 1, kBatch);
}

Status TimedStream::record(CUevent event) {
  return context_.status(context_.api().event_record(event, context_.stream()), "recording an event");
}

Status TimedStream::read(const EventPair& pair, std::vector<double>& times) {
  float ms = 0.0f;
  const CUresult result = context_.api().event_elapsed_time(&ms, pair.start, pair.stop);
  if (Status status = context_.status(result, "reading an event"); !status) return status;
  times.push_back(static_cast<double>(ms) * 1e3);
  return {};
}

Hold::Hold(TimedStream& stream, bool wanted) {
  goal_ = ++stream.goal_;
  if (!wanted) return;
  flags_ = stream.flags_;
  queued_ = stream.builtin_.hold(stream.flags_at_, stream.flags_at_ + 4, goal_);
}

void Hold::release() {
  if (flags_ != nullptr) std::atomic_ref<std::uint32_t>(flags_[0]).store(goal_, std::memory_order_release);
}

bool Hold::gave_up() const {
  return flags_ != nullptr && std::atomic_ref<std::uint32_t>(flags_[1]).load(std::memory_order_acquire) == goal_;
}

}  // namespace ktune::device::cuda
