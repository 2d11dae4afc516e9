#include "device/cpu/cache_flush.h"

#include <algorithm>

namespace ktune::device::cpu {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::size_t kWordsPerLine = 8;

}  // namespace

CacheFlush::CacheFlush(std::int64_t cache_bytes) : bytes_(std::clamp(2 * cache_bytes, 16 * kMiB, 64 * kMiB)) {}

void CacheFlush::prepare(model::CacheState state) {
  if (state == model::CacheState::kWarm) return;
  // Filled at first: pages never written would all be the system's one page of zeros.
  if (words_.empty()) words_.assign(static_cast<std::size_t>(bytes_) / sizeof(std::uint64_t), 1);
  volatile std::uint64_t* words = words_.data();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < words_.size(); i += kWordsPerLine) {
    if (state == model::CacheState::kDirty) {
      words[i] = i;
    } else {
      sum += words[i];
    }
  }
  if (sum == 1) words[0] = 1;
}

}  // namespace ktune::device::cpu
