#include "device/cuda/limits.h"

#include <gtest/gtest.h>

namespace ktune::device::cuda {
namespace {

GpuLimits h200() { return {90, 1024, 65536, 232448}; }

KernelNeeds kernel(int registers, std::int64_t static_smem = 0, int max_threads = 1024) {
  return {"rmsnorm", registers, static_smem, max_threads};
}

model::LaunchPlan plan(std::int64_t threads, std::int64_t smem = 0) {
  model::LaunchPlan plan;
  plan.kernel = "rmsnorm";
  plan.grid = {4096, 1, 1};
  plan.block = {threads, 1, 1};
  plan.smem_bytes = smem;
  return plan;
}

std::string reason(const GpuLimits& limits, const KernelNeeds& needs, const model::LaunchPlan& launch) {
  const auto status = check_limits(limits, needs, launch);
  if (status) return "";
  EXPECT_EQ(status.error().outcome, model::Outcome::kRejected);
  return status.error().reason;
}

TEST(Limits, AcceptWhatFitsExactly) {
  EXPECT_EQ(reason(h200(), kernel(64), plan(1024)), "");
  EXPECT_EQ(reason(h200(), kernel(32, 1024), plan(256, 232448 - 1024)), "");
}

TEST(Limits, CountSharedMemoryStaticAndDynamic) {
  EXPECT_EQ(reason(h200(), kernel(32, 73 << 10), plan(256, 227 << 10)),
            "rmsnorm needs 300.0 KiB of shared memory, the device has 227.0 KiB a block");
  EXPECT_NE(reason(h200(), kernel(32, 1024), plan(256, 232448 - 1023)), "");
}

TEST(Limits, RoundRegistersAsTheHardwareGivesThem) {
  EXPECT_EQ(reason(h200(), kernel(128), plan(640)), "rmsnorm: 640 threads × 128 registers exceed 65536");
  EXPECT_EQ(reason(h200(), kernel(65), plan(1024)), "rmsnorm: 1024 threads × 65 registers exceed 65536");
  EXPECT_EQ(reason(h200(), kernel(128), plan(512)), "");
  EXPECT_EQ(reason(h200(), kernel(121), plan(512)), "");
  EXPECT_NE(reason(h200(), kernel(129), plan(512)), "");
  // 25 warps × 80 registers are 64000, but a quarter of the SM would hold 7 warps: 17920 of 16384.
  EXPECT_NE(reason(h200(), kernel(80), plan(800)), "");
}

TEST(Limits, HoldTheKernelToItsLaunchBounds) {
  EXPECT_EQ(reason(h200(), kernel(32, 0, 256), plan(512)), "rmsnorm: 512 threads a block, its launch bounds allow 256");
}

TEST(Limits, AreThoseOfEverySpaceFirst) {
  EXPECT_EQ(reason(h200(), kernel(128), plan(2048)), "block of 2048 threads: the device allows 1024");
  EXPECT_EQ(reason(h200(), kernel(32), plan(256, 300 << 10)),
            "300.0 KiB of shared memory: the device allows 227.0 KiB a block");
  GpuLimits a100 = h200();
  a100.sm = 80;
  model::LaunchPlan launch = plan(256);
  launch.cluster = {2, 1, 1};
  EXPECT_EQ(reason(h200(), kernel(32), launch), "");
  EXPECT_EQ(reason(a100, kernel(32), launch), "cluster of 2×1×1 blocks: the device has no clusters");
}

}  // namespace
}  // namespace ktune::device::cuda
