#include "device/cpu/block_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "device/cpu/crash_report.h"

namespace ktune::device::cpu {
namespace {

constexpr std::size_t kCanaryBytes = 256;
constexpr int kCanary = 0x5a;

/// Dynamic shared memory of one OS thread for one launch.
class DynamicShared {
 public:
  DynamicShared(std::size_t bytes, bool sanitized) : bytes_(bytes) {
    // A sanitizer has its own guard behind every allocation; a canary of ours would hide the overrun from it.
    canary_ = sanitized ? 0 : kCanaryBytes;
    if (posix_memalign(&memory_, 1024, std::max<std::size_t>(bytes_ + canary_, 1)) != 0) memory_ = nullptr;
    if (memory_ != nullptr) std::memset(static_cast<char*>(memory_) + bytes_, kCanary, canary_);
  }
  ~DynamicShared() { std::free(memory_); }
  DynamicShared(const DynamicShared&) = delete;
  DynamicShared& operator=(const DynamicShared&) = delete;

  void* memory() const { return memory_; }
  void poison() { std::memset(memory_, 0xff, bytes_); }
  bool overrun() const {
    const auto* end = static_cast<const unsigned char*>(memory_) + bytes_;
    return std::any_of(end, end + canary_, [](unsigned char byte) { return byte != kCanary; });
  }

 private:
  std::size_t bytes_;
  std::size_t canary_ = 0;
  void* memory_ = nullptr;
};

}  // namespace

struct BlockPool::Grid {
  const KernelCall* call;
  const KernelObject* object;
  std::size_t smem_bytes;
  bool sanitized;
  std::uint64_t blocks;
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  std::optional<std::string> fault;

  ktune_cpu::Index3 index_of(std::uint64_t block) const {
    const std::uint64_t x = block % call->grid.x;
    const std::uint64_t y = block / call->grid.x % call->grid.y;
    const std::uint64_t z = block / call->grid.x / call->grid.y;
    return {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
  }

  /// Keeps the first fault and lets no other block start.
  void stop(std::string text) {
    next.store(blocks);
    const std::lock_guard lock(mutex);
    if (!fault) fault = std::move(text);
  }

  void run_blocks(BlockRunner& runner) {
    DynamicShared dynamic(smem_bytes, sanitized);
    if (dynamic.memory() == nullptr) return stop("no memory for dynamic shared memory");
    std::byte* statics = object->static_shared();
    ktune_cpu_dynamic_shared = dynamic.memory();
    for (;;) {
      const std::uint64_t block = next.fetch_add(1);
      if (block >= blocks) break;
      if (statics != nullptr) std::memset(statics, 0xff, object->static_shared_bytes());
      dynamic.poison();
      const ktune_cpu::Index3 gang[] = {index_of(block)};
      if (auto text = runner.run(*call, gang)) return stop(std::move(*text));
      if (dynamic.overrun()) {
        return stop(fmt::format("block ({},{},{}) of '{}' wrote beyond its {} bytes of dynamic shared memory",
                                gang[0].x, gang[0].y, gang[0].z, call->name, smem_bytes));
      }
    }
  }
};

BlockPool::BlockPool(int os_threads, int max_block_threads, std::size_t stack_bytes, bool sanitized)
    : max_block_threads_(max_block_threads), stack_bytes_(stack_bytes), sanitized_(sanitized) {
  for (int i = 0; i < os_threads; ++i) threads_.emplace_back([this] { serve(); });
}

BlockPool::~BlockPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::optional<std::string> BlockPool::run(const KernelCall& call, const KernelObject& object, std::size_t smem_bytes) {
  const std::uint64_t blocks = std::uint64_t{call.grid.x} * call.grid.y * call.grid.z;
  Grid grid{&call, &object, smem_bytes, sanitized_, blocks, {}, {}, {}};
  std::unique_lock lock(mutex_);
  grid_ = &grid;
  ++round_;
  busy_ = os_threads();
  work_.notify_all();
  done_.wait(lock, [this] { return busy_ == 0; });
  grid_ = nullptr;
  return std::move(grid.fault);
}

void BlockPool::serve() {
  BlockRunner runner(max_block_threads_, stack_bytes_);
  const SignalStack signal_stack;
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    Grid* grid = grid_;
    lock.unlock();
    grid->run_blocks(runner);
    lock.lock();
    if (--busy_ == 0) done_.notify_all();
  }
}

}  // namespace ktune::device::cpu
