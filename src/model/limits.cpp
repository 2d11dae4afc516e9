#include "model/limits.h"

#include <fmt/format.h>

#include "base/text.h"

namespace ktune::model {
namespace {

using Extent = std::array<std::int64_t, 3>;

// CUDA C++ Programming Guide, "Compute Capabilities": the same for every GPU since 3.0.
constexpr Extent kMostBlocks{2147483647, 65535, 65535};
constexpr Extent kMostThreads{1024, 1024, 64};
constexpr std::int64_t kMostOfCluster = 16;  // 8 on every GPU that has clusters, 16 where the driver allows it
constexpr int kFirstWithClusters = 90;       // compute capability × 10

std::string by(const Extent& extent) { return fmt::format("{}×{}×{}", extent[0], extent[1], extent[2]); }

bool beyond(const Extent& extent, const Extent& most) {
  return extent[0] < 1 || extent[1] < 1 || extent[2] < 1 || extent[0] > most[0] || extent[1] > most[1] ||
         extent[2] > most[2];
}

std::optional<LimitBreach> block_broken(const LaunchPlan& launch, const DeviceFacts& device) {
  // One axis says it all in most blocks; and a product of three would overflow for what no axis allows.
  const bool flat = launch.block[1] == 1 && launch.block[2] == 1 && launch.block[0] > 0;
  if (!flat && beyond(launch.block, kMostThreads))
    return LimitBreach{
        fmt::format("a block of more than {} threads", by(kMostThreads)),
        fmt::format("block of {} threads: the device allows 1 to {}", by(launch.block), by(kMostThreads))};
  const std::int64_t threads = volume(launch.block);
  if (threads < 1 || threads > device.max_threads)
    return LimitBreach{fmt::format("more than {} threads a block", device.max_threads),
                       fmt::format("block of {} threads: the device allows {}", threads, device.max_threads)};
  return std::nullopt;
}

std::optional<LimitBreach> cluster_broken(const LaunchPlan& launch, const DeviceFacts& device) {
  const Extent& cluster = launch.cluster;
  if (cluster == Extent{1, 1, 1}) return std::nullopt;
  // A fake device without a compute capability takes what a script gives it.
  if (device.kind == "cpu" || (device.sm > 0 && device.sm < kFirstWithClusters))
    return LimitBreach{"a cluster of blocks, which the device does not have",
                       fmt::format("cluster of {} blocks: the device has no clusters", by(cluster))};
  if (beyond(cluster, {kMostOfCluster, kMostOfCluster, kMostOfCluster}) || volume(cluster) > kMostOfCluster)
    return LimitBreach{fmt::format("more than {} blocks a cluster", kMostOfCluster),
                       fmt::format("cluster of {} blocks: the device allows {}", by(cluster), kMostOfCluster)};
  for (std::size_t i = 0; i < 3; ++i)
    if (launch.grid[i] % cluster[i] != 0)
      return LimitBreach{"a grid that is not whole clusters",
                         fmt::format("grid of {} blocks: not whole clusters of {}", by(launch.grid), by(cluster))};
  return std::nullopt;
}

}  // namespace

std::optional<LimitBreach> limit_broken(const LaunchPlan& launch, const DeviceFacts& device) {
  if (beyond(launch.grid, kMostBlocks))
    return LimitBreach{fmt::format("a grid of more than {} blocks", by(kMostBlocks)),
                       fmt::format("grid of {} blocks: the device allows 1 to {}", by(launch.grid), by(kMostBlocks))};
  if (auto broken = block_broken(launch, device)) return broken;
  // A device of which nothing is known but its name: 0.
  if (launch.smem_bytes < 0 || (device.smem_optin > 0 && launch.smem_bytes > device.smem_optin))
    return LimitBreach{fmt::format("more than {} of shared memory a block", format_bytes(device.smem_optin)),
                       fmt::format("{} of shared memory: the device allows {} a block", format_bytes(launch.smem_bytes),
                                   format_bytes(device.smem_optin))};
  return cluster_broken(launch, device);
}

std::optional<LimitBreach> limit_broken(const std::vector<TensorPlan>& scratch, const DeviceFacts& device) {
  std::int64_t bytes = 0;
  bool beyond_counting = false;
  for (const TensorPlan& tensor : scratch)
    beyond_counting = __builtin_add_overflow(bytes, tensor.storage_bytes(), &bytes) || beyond_counting;
  if (device.memory_bytes <= 0 || (!beyond_counting && bytes <= device.memory_bytes)) return std::nullopt;
  const std::string most = format_bytes(device.memory_bytes);
  return LimitBreach{fmt::format("more than {} of scratch memory", most),
                     fmt::format("scratch of {}: the device has {}",
                                 beyond_counting ? "more than 2^63 bytes" : format_bytes(bytes), most)};
}

}  // namespace ktune::model
