#include "model/limits.h"

#include <gtest/gtest.h>

namespace ktune::model {
namespace {

DeviceFacts h200() {
  DeviceFacts facts;
  facts.kind = "cuda";
  facts.sm = 90;
  facts.smem_optin = 232448;
  return facts;
}

LaunchPlan launch(std::int64_t threads, std::int64_t smem = 0) {
  LaunchPlan plan;
  plan.grid = {4096, 1, 1};
  plan.block = {threads, 1, 1};
  plan.smem_bytes = smem;
  return plan;
}

std::string text(const LaunchPlan& plan, const DeviceFacts& facts) {
  const auto broken = limit_broken(plan, facts);
  return broken ? broken->text : "";
}

TEST(Limits, AcceptWhatFitsExactly) {
  EXPECT_EQ(text(launch(1024, 232448), h200()), "");
  LaunchPlan most = launch(1);
  most.grid = {2147483647, 65535, 65535};
  most.block = {1, 16, 64};
  EXPECT_EQ(text(most, h200()), "");
}

TEST(Limits, NameWhatABlockAsksFor) {
  EXPECT_EQ(text(launch(2048), h200()), "block of 2048 threads: the device allows 1024");
  EXPECT_EQ(limit_broken(launch(4096), h200())->limit, "more than 1024 threads a block");
  EXPECT_EQ(text(launch(0), h200()), "block of 0×1×1 threads: the device allows 1 to 1024×1024×64");
  LaunchPlan deep = launch(2);
  deep.block = {1, 1, 65};
  EXPECT_EQ(text(deep, h200()), "block of 1×1×65 threads: the device allows 1 to 1024×1024×64");
  deep.block = {64, 32, 1};
  EXPECT_EQ(text(deep, h200()), "block of 2048 threads: the device allows 1024");
  for (const std::array<std::int64_t, 3>& block : {std::array<std::int64_t, 3>{2048, 2, 1}, {1, 0, 1}, {1, 1, 0}}) {
    deep.block = block;
    EXPECT_NE(text(deep, h200()).find("the device allows 1 to 1024×1024×64"), std::string::npos) << text(deep, h200());
  }
}

TEST(Limits, NameSharedMemoryAndGrids) {
  EXPECT_EQ(text(launch(256, 300 << 10), h200()), "300.0 KiB of shared memory: the device allows 227.0 KiB a block");
  EXPECT_EQ(limit_broken(launch(256, 232449), h200())->limit, "more than 227.0 KiB of shared memory a block");
  LaunchPlan wide = launch(256);
  wide.grid = {1, 65536, 1};
  EXPECT_EQ(text(wide, h200()), "grid of 1×65536×1 blocks: the device allows 1 to 2147483647×65535×65535");
  wide.grid = {0, 1, 1};
  EXPECT_EQ(text(wide, h200()), "grid of 0×1×1 blocks: the device allows 1 to 2147483647×65535×65535");
  wide.grid = {2147483648, 1, 1};
  EXPECT_EQ(text(wide, h200()), "grid of 2147483648×1×1 blocks: the device allows 1 to 2147483647×65535×65535");
  EXPECT_EQ(text(launch(256, -1), h200()), "-1 B of shared memory: the device allows 227.0 KiB a block");
}

TEST(Limits, AreNotHeldAgainstADeviceOfWhichOnlyTheNameIsKnown) {
  DeviceFacts fake;
  fake.kind = "fake";
  LaunchPlan plan = launch(256, 1 << 30);
  plan.cluster = {2, 1, 1};
  EXPECT_EQ(text(plan, fake), "");
}

TEST(Limits, KnowClusters) {
  LaunchPlan plan = launch(256);
  plan.cluster = {16, 1, 1};
  EXPECT_EQ(text(plan, h200()), "");
  plan.cluster = {16, 2, 1};
  EXPECT_EQ(text(plan, h200()), "cluster of 16×2×1 blocks: the device allows 16");
  plan.cluster = {3, 1, 1};
  EXPECT_EQ(text(plan, h200()), "grid of 4096×1×1 blocks: not whole clusters of 3×1×1");
  plan.cluster = {1, 3, 1};
  EXPECT_EQ(text(plan, h200()), "grid of 4096×1×1 blocks: not whole clusters of 1×3×1");
  plan.cluster = {-2, -2, 1};
  EXPECT_EQ(text(plan, h200()), "cluster of -2×-2×1 blocks: the device allows 16");
  plan.cluster = {2, 1, 1};
  DeviceFacts l40 = h200();
  l40.sm = 89;
  EXPECT_EQ(text(plan, l40), "cluster of 2×1×1 blocks: the device has no clusters");
  EXPECT_EQ(text(launch(256), l40), "") << "a block by itself is no cluster";
  DeviceFacts host;
  host.kind = "cpu";
  EXPECT_EQ(text(plan, host), "cluster of 2×1×1 blocks: the device has no clusters");
}

TEST(ScratchLimit, IsTheDevicesMemory) {
  TensorPlan scratch;
  scratch.storage = 1000;
  DeviceFacts device;
  device.memory_bytes = 8000;
  EXPECT_FALSE(limit_broken({scratch, scratch}, device));
  scratch.storage = 1001;
  EXPECT_EQ(limit_broken({scratch, scratch}, device)->text, "scratch of 7.8 KiB: the device has 7.8 KiB");
  EXPECT_EQ(limit_broken({scratch, scratch}, device)->limit, "more than 7.8 KiB of scratch memory");
  scratch.storage = std::int64_t{1} << 60;
  EXPECT_EQ(limit_broken({scratch, scratch, scratch}, device)->text,
            "scratch of more than 2^63 bytes: the device has 7.8 KiB");
  device.memory_bytes = 0;
  EXPECT_FALSE(limit_broken({scratch}, device)) << "nothing is known of it";
}

}  // namespace
}  // namespace ktune::model
