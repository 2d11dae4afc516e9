#include "device/cuda/limits.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/limits.h"

namespace ktune::device::cuda {
namespace {

using model::Status;

Status reject(const std::string& reason) { return model::fail(model::Outcome::kRejected, reason); }

/// Registers are given to whole warps, in units of 256 (8 a thread), the warps in fours.
std::int64_t registers_of(std::int64_t threads, int registers) {
  const std::int64_t warps = (threads + 31) / 32;
  const std::int64_t a_warp = (static_cast<std::int64_t>(registers) * 32 + 255) / 256 * 256;
  return (warps + 3) / 4 * 4 * a_warp;
}

}  // namespace

Status check_limits(const GpuLimits& limits, const KernelNeeds& kernel, const model::LaunchPlan& plan) {
  model::DeviceFacts device;
  device.kind = "cuda";
  device.sm = limits.sm;
  device.max_threads = limits.max_threads;
  device.smem_optin = limits.smem_optin;
  if (const auto broken = model::limit_broken(plan, device)) return reject(broken->text);
  const std::int64_t threads = model::volume(plan.block);
  if (registers_of(threads, kernel.registers) > limits.registers_per_block) {
    return reject(fmt::format("{}: {} threads × {} registers exceed {}", kernel.name, threads, kernel.registers,
                              limits.registers_per_block));
  }
  if (threads > kernel.max_threads) {
    return reject(
        fmt::format("{}: {} threads a block, its launch bounds allow {}", kernel.name, threads, kernel.max_threads));
  }
  if (kernel.static_smem + plan.smem_bytes > limits.smem_optin) {
    return reject(fmt::format("{} needs {} of shared memory, the device has {} a block", kernel.name,
                              format_bytes(kernel.static_smem + plan.smem_bytes), format_bytes(limits.smem_optin)));
  }
  return {};
}

}  // namespace ktune::device::cuda
