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

Status TimedStream::renew(const TimedCall& call) {
  for (const Renewal& renewal : call.renewals) {
    Status done;
    if (renewal.from == 0) {
      done = builtin_.poison(renewal.to, renewal.bytes, renewal.pattern);
    } else {
      const auto bytes = static_cast<std::size_t>(renewal.bytes);
      done = context_.status(context_.api().memcpy_dtod_async(renewal.to, renewal.from, bytes, context_.stream()),
                             "renewing an operand");
    }
    if (!done) return done;
  }
  return {};
}

Status TimedStream::prepare_call(CacheState state, BoundCall& call) {
  if (Status renewed = renew(*call.call); !renewed) return renewed;
  if (state != CacheState::kWarm) return set_cache(state);
  Status ran = modules_.enqueue(call.launches);
  return ran ? renew(*call.call) : ran;
}

Status TimedStream::set_cache(CacheState state) {
  if (state == CacheState::kDirty) {
    return context_.status(context_.api().memset_d32_async(scratch_, ++evictions_, kDirtyBytes / 4, context_.stream()),
                           "filling L2");
  }
  if (context_.facts().sm < 80) return builtin_.read_sweep(clean_, evict_bytes_);
  return builtin_.evict(scratch_, evict_bytes_, ++evictions_ * 0x9e3779b9u);
}

int TimedStream::preparing_kernels(CacheState state, const BoundCall& call) const {
  int renewing = 0;
  for (const Renewal& renewal : call.call->renewals)
    if (renewal.from == 0 && renewal.bytes % 4 != 0) ++renewing;  // what a memset or a copy of whole words leaves
  if (state == CacheState::kDirty) return renewing;               // a memset is no kernel
  if (state == CacheState::kWarm) return 2 * renewing + static_cast<int>(call.launches.size());
  return renewing + (context_.facts().sm < 80 ? 1 : 2);
}

Status TimedStream::evict() {
  const Status ready = prepare_scratch();
  return ready ? set_cache(CacheState::kCold) : ready;
}

int TimedStream::batch_size(CacheState state, const Rotation& rotation) const {
  if (state != CacheState::kWarm) return kBatch;
  std::size_t most = 1;  // commands of a sample
  for (const BoundCall& call : rotation)
    most = std::max(most, 2 * (call.launches.size() + call.call->renewals.size() + 1) + call.call->checks.size());
  return std::clamp(kHeldCommands / static_cast<int>(most), 1, kBatch);
}

model::Result<Timed> TimedStream::in_batches(const Rotation& rotation, int samples, CacheState state,
                                             const std::function<Status(int, int, Timed&)>& take) {
  const int batch = batch_size(state, rotation);
  Timed timed;
  for (int first = 0; first < samples && !timed.wrong; first += batch) {
    const int count = std::min(batch, samples - first);
    Status taken = checks_.begin(rotation, count);
    if (taken) taken = take(first, count, timed);
    if (!taken) return tl::unexpected(taken.error());
    auto wrong = checks_.read();
    if (!wrong) return tl::unexpected(wrong.error());
    timed.wrong = *wrong;
  }
  return timed;
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
