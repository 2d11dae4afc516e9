#include "device/cuda/limits.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"

namespace ktune::device::cuda {
namespace {

using model::Status;

constexpr std::array<std::int64_t, 3> kMaxGrid{2147483647, 65535, 65535};
constexpr std::array<std::int64_t, 3> kMaxBlock{1024, 1024, 64};
constexpr std::int64_t kMaxCluster = 16;  // 8 on every GPU that has clusters, 16 where the driver allows it

Status reject(const std::string& reason) { return model::fail(model::Outcome::kRejected, reason); }

std::string by(const std::array<std::int64_t, 3>& extent) {
  return fmt::format("{}×{}×{}", extent[0], extent[1], extent[2]);
}

Status check_extent(const char* what, const std::array<std::int64_t, 3>& extent,
                    const std::array<std::int64_t, 3>& most) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (extent[i] < 1) return reject(fmt::format("a {} of {}", what, by(extent)));
    if (extent[i] > most[i]) {
      return reject(fmt::format("a {} of {} exceeds the device's {}", what, by(extent), by(most)));
    }
  }
  return {};
}

Status check_cluster(const GpuLimits& limits, const model::LaunchPlan& plan) {
  const std::array<std::int64_t, 3> most{kMaxCluster, kMaxCluster, kMaxCluster};
  if (const Status status = check_extent("cluster", plan.cluster, most); !status) return status;
  const std::int64_t blocks = volume(plan.cluster);
  if (blocks == 1) return {};
  if (!limits.clusters) return reject(fmt::format("sm_{} has no clusters", limits.sm));
  if (blocks > kMaxCluster) {
    return reject(fmt::format("a cluster of {} blocks, the device has at most {}", blocks, kMaxCluster));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (plan.grid[i] % plan.cluster[i] != 0) {
      return reject(fmt::format("a grid of {} is not whole clusters of {}", by(plan.grid), by(plan.cluster)));
    }
  }
  return {};
}

/// Registers are given to whole warps, in units of 256 (8 a thread), the warps in fours.
std::int64_t registers_of(std::int64_t threads, int registers) {
  const std::int64_t warps = (threads + 31) / 32;
  const std::int64_t a_warp = (static_cast<std::int64_t>(registers) * 32 + 255) / 256 * 256;
  return (warps + 3) / 4 * 4 * a_warp;
}

}  // namespace

Status check_limits(const GpuLimits& limits, const KernelNeeds& kernel, const model::LaunchPlan& plan) {
  if (const Status status = check_extent("grid", plan.grid, kMaxGrid); !status) return status;
  if (const Status status = check_extent("block", plan.block, kMaxBlock); !status) return status;
  const std::int64_t threads = volume(plan.block);
  if (threads > limits.max_threads) {
    return reject(fmt::format("{} threads a block, the device has at most {}", threads, limits.max_threads));
  }
  if (registers_of(threads, kernel.registers) > limits.registers_per_block) {
    return reject(fmt::format("{}: {} threads × {} registers exceed {}", kernel.name, threads, kernel.registers,
                              limits.registers_per_block));
  }
  if (threads > kernel.max_threads) {
    return reject(
        fmt::format("{}: {} threads a block, its launch bounds allow {}", kernel.name, threads, kernel.max_threads));
  }
  if (plan.smem_bytes < 0) return reject(fmt::format("{} bytes of dynamic shared memory", plan.smem_bytes));
  if (kernel.static_smem + plan.smem_bytes > limits.smem_optin) {
    return reject(fmt::format("{} needs {} of shared memory, the device has {} a block", kernel.name,
                              format_bytes(kernel.static_smem + plan.smem_bytes), format_bytes(limits.smem_optin)));
  }
  return check_cluster(limits, plan);
}

}  // namespace ktune::device::cuda
