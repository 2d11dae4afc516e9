#include "device/cuda/cupti.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <mutex>

#include "device/cuda/cupti_library.h"

namespace ktune::device::cuda {
namespace {

constexpr int kSuccess = 0;
constexpr int kMultipleSubscribers = 39;
constexpr int kConcurrentKernel = 10;  // CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
constexpr std::size_t kBufferBytes = 8 << 20;

/// The first fields of CUpti_ActivityKernel4 to 10.
struct KernelActivity {
  std::uint32_t kind;
  std::uint8_t cache_config;
  std::uint8_t shared_memory_config;
  std::uint16_t registers;
  std::uint32_t partitioned_requested;
  std::uint32_t partitioned_executed;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t completed;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::int32_t grid[3];
  std::int32_t block[3];
  std::int32_t static_shared;
  std::int32_t dynamic_shared;
  std::uint32_t local_per_thread;
  std::uint32_t local_total;
  std::uint32_t correlation;
};
static_assert(offsetof(KernelActivity, start) == 16);
static_assert(offsetof(KernelActivity, correlation) == 92);

using Subscriber = struct OpaqueCuptiSubscriber*;
using RequestBuffer = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using CompleteBuffer = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);
using Callback = void (*)(void*, int, std::uint32_t, const void*);

struct Api {
  int (*version)(std::uint32_t*) = nullptr;
  int (*subscribe)(Subscriber*, Callback, void*) = nullptr;
  int (*unsubscribe)(Subscriber) = nullptr;
  int (*register_callbacks)(RequestBuffer, CompleteBuffer) = nullptr;
  int (*enable)(int) = nullptr;
  int (*disable)(int) = nullptr;
  int (*flush_all)(std::uint32_t) = nullptr;
  int (*next_record)(std::uint8_t*, std::size_t, KernelActivity**) = nullptr;
  int (*dropped)(void*, std::uint32_t, std::size_t*) = nullptr;
};

/// What CUPTI's callbacks, which take no argument of ours, write to.
struct Collected {
  std::mutex mutex;
  Api api;
  std::vector<KernelRecord> records;
  std::size_t invalid = 0;
  std::size_t dropped = 0;
};

Collected& collected() {
  static Collected instance;
  return instance;
}

void request_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(64, kBufferBytes));
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;
  *max_records = 0;  // as many as fit
}

void complete_buffer(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  Collected& sink = collected();
  const std::lock_guard lock(sink.mutex);
  KernelActivity* record = nullptr;
  while (valid > 0 && sink.api.next_record(buffer, valid, &record) == kSuccess) {
    if (record->kind != kConcurrentKernel) continue;
    if (record->start != 0 && record->end >= record->start) {
      sink.records.push_back({record->start, record->end, record->correlation});
    } else {
      ++sink.invalid;
    }
  }
  std::size_t lost = 0;
  if (sink.api.dropped(context, stream, &lost) == kSuccess) sink.dropped += lost;
  std::free(buffer);
}

void ignore_callback(void*, int, std::uint32_t, const void*) {}

template <typename Function>
bool resolve(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

bool resolve_all(void* library, Api& api) {
  return resolve(library, "cuptiGetVersion", api.version) && resolve(library, "cuptiSubscribe", api.subscribe) &&
         resolve(library, "cuptiUnsubscribe", api.unsubscribe) &&
         resolve(library, "cuptiActivityRegisterCallbacks", api.register_callbacks) &&
         resolve(library, "cuptiActivityEnable", api.enable) && resolve(library, "cuptiActivityDisable", api.disable) &&
         resolve(library, "cuptiActivityFlushAll", api.flush_all) &&
         resolve(library, "cuptiActivityGetNextRecord", api.next_record) &&
         resolve(library, "cuptiActivityGetNumDroppedRecords", api.dropped);
}

}  // namespace

std::string subscribe_problem(int result) {
  if (result == kMultipleSubscribers) {
    return "another tool in this process has CUPTI (error 39): run without nsys, ncu or another profiler";
  }
  return fmt::format("CUPTI does not start: error {}", result);
}

struct Cupti::Impl {
  std::string problem;
  std::uint32_t version = 0;
  Subscriber subscriber = nullptr;
  bool ready = false;  ///< subscribed and callbacks registered
};

Cupti::Cupti() : impl_(std::make_unique<Impl>()) {
  if (const char* injected = std::getenv("CUDA_INJECTION64_PATH"); injected != nullptr && *injected != '\0') {
    impl_->problem = "a profiler is attached (CUDA_INJECTION64_PATH is set)";
    return;
  }
  void* library = open_cupti(impl_->problem);
  if (library == nullptr) return;
  Api& api = collected().api;
  if (!resolve_all(library, api) || api.version(&impl_->version) != kSuccess) {
    impl_->problem = "libcupti.so lacks a function that ktune needs";
  }
}

Cupti::~Cupti() {
  if (impl_->ready) collected().api.unsubscribe(impl_->subscriber);
}

const std::string& Cupti::problem() const { return impl_->problem; }

std::string Cupti::version() const {
  return impl_->problem.empty() ? fmt::format("CUPTI {}", impl_->version) : std::string();
}

std::string Cupti::start() {
  if (!impl_->problem.empty()) return impl_->problem;
  Collected& sink = collected();
  if (!impl_->ready) {
    if (const int result = sink.api.subscribe(&impl_->subscriber, ignore_callback, nullptr); result != kSuccess) {
      return impl_->problem = subscribe_problem(result);
    }
    if (const int result = sink.api.register_callbacks(request_buffer, complete_buffer); result != kSuccess) {
      sink.api.unsubscribe(impl_->subscriber);
      return impl_->problem = fmt::format("CUPTI takes no buffers: error {}", result);
    }
    impl_->ready = true;
  }
  {
    const std::lock_guard lock(sink.mutex);
    sink.records.clear();
    sink.invalid = 0;
    sink.dropped = 0;
  }
  if (const int result = sink.api.enable(kConcurrentKernel); result != kSuccess) {
    return impl_->problem = fmt::format("CUPTI does not trace kernels: error {}", result);
  }
  return {};
}

std::vector<KernelRecord> Cupti::stop(std::string& problem) {
  Collected& sink = collected();
  const int flushed = sink.api.flush_all(1);
  sink.api.disable(kConcurrentKernel);
  const std::lock_guard lock(sink.mutex);
  problem.clear();
  if (flushed != kSuccess) problem = fmt::format("CUPTI's records cannot be had: error {}", flushed);
  if (sink.dropped + sink.invalid > 0) {
    problem = fmt::format("CUPTI lost {} kernel records and gave {} without times", sink.dropped, sink.invalid);
  }
  std::vector<KernelRecord> records = std::move(sink.records);
  sink.records.clear();
  std::sort(records.begin(), records.end(),
            [](const KernelRecord& a, const KernelRecord& b) { return a.correlation < b.correlation; });
  if (!problem.empty()) records.clear();
  return records;
}

}  // namespace ktune::device::cuda
