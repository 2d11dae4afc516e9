#include "compile/host_kernel_fixture.h"

// What a GPU hangs on, leaves undefined or dies of, and what the CPU device says of it. Line 1 of a kernel's text is
// the first of the raw string.

namespace ktune::compile {
namespace {

using HostFault = HostKernelTest;

TEST_F(HostFault, ABarrierThatNotAllThreadsReachIsReportedWithItsLine) {
  EXPECT_EQ(fault_of(R"(extern "C" __global__ void k(float* x) {
  if (threadIdx.x < 40) {
    __syncthreads();
  }
  x[threadIdx.x] = 2.0f;
})",
                     64),
            "test.cu:3: barrier that not all threads reach: 40 of 64 threads wait at __syncthreads (test.cu:3), the "
            "first is thread (0,0,0) of block (0,0,0); 24 have returned");
}

TEST_F(HostFault, TwoBarriersThatMeetAreReported) {
  EXPECT_EQ(fault_of(R"(extern "C" __global__ void k(float* x) {
  if (threadIdx.x < 32)
    __syncthreads();
  else
    __syncthreads();
})",
                     64),
            "test.cu:5: __syncthreads of thread (32,0,0) of block (0,0,0) meets the __syncthreads at test.cu:3, where "
            "32 of the block's 64 threads wait");
}

TEST_F(HostFault, AFullMaskShuffleInADivergentBranchIsReported) {
  EXPECT_EQ(fault_of(R"(extern "C" __global__ void k(float* x) {
  float v = x[threadIdx.x];
  if (threadIdx.x < 16) {
    v += __shfl_xor_sync(0xffffffffu, v, 8);
  }
  x[threadIdx.x] = v;
})",
                     32),
            "test.cu:4: __shfl_xor_sync in a divergent branch: lanes that its mask names do not reach it: 16 of 32 "
            "threads wait at __shfl_xor_sync with mask 0xffffffff (test.cu:4), the first is thread (0,0,0) of block "
            "(0,0,0); 16 have returned");
}

TEST_F(HostFault, ADivergentShuffleIsReportedWhereTheOthersWaitAtABarrier) {
  const std::string fault = fault_of(R"(extern "C" __global__ void k(float* x) {
  float v = x[threadIdx.x];
  if (threadIdx.x % 2 == 0) v += __shfl_down_sync(0xffffffffu, v, 2);
  __syncthreads();
  x[threadIdx.x] = v;
})",
                                     32);
  EXPECT_NE(fault.find("16 of 32 threads wait at __shfl_down_sync with mask 0xffffffff (test.cu:3)"), std::string::npos)
      << fault;
  EXPECT_NE(fault.find("16 of 32 threads wait at __syncthreads (test.cu:4)"), std::string::npos) << fault;
}

TEST_F(HostFault, TwoShufflesThatMeetAreReported) {
  EXPECT_EQ(fault_of(R"(extern "C" __global__ void k(float* x) {
  float v = x[threadIdx.x];
  if (threadIdx.x < 8)
    v = __shfl_sync(~0u, v, 0);
  else
    v = __shfl_sync(~0u, v, 1);
  x[threadIdx.x] = v;
})",
                     32),
            "test.cu:4: warp operations that do not meet: 8 of 32 threads wait at __shfl_sync with mask 0xffffffff "
            "(test.cu:4), the first is thread (0,0,0) of block (0,0,0); 24 of 32 threads wait at __shfl_sync with mask "
            "0xffffffff (test.cu:6), the first is thread (8,0,0) of block (0,0,0)");
}

TEST_F(HostFault, ALaneOutsideItsMaskIsReported) {
  EXPECT_EQ(fault_of(R"(extern "C" __global__ void k(float* x) {
  x[threadIdx.x] = __shfl_sync(0x0000ffffu, x[threadIdx.x], 0);
})",
                     32),
            "test.cu:2: thread (16,0,0) of block (0,0,0) calls __shfl_sync with mask 0x0000ffff, which does not name "
            "its lane 16");
}

TEST_F(HostFault, ReadingALaneThatIsNotThereIsReported) {
  EXPECT_EQ(fault_of(R"(extern "C" __global__ void k(float* x) {
  x[threadIdx.x] = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 16);
})",
                     16),
            "test.cu:2: lane 0 reads lane 16 in __shfl_xor_sync, which the block does not have (mask 0xffffffff; block "
            "(0,0,0))");
}

TEST_F(HostFault, ANullPointerIsReportedAndTheDeviceGoesOn) {
  EXPECT_EQ(fault_of(R"(extern "C" __global__ void k(float* x) {
  if (threadIdx.x == 3) *(volatile float*)nullptr = 1.f;
})",
                     32),
            "test.cu:2: access through a null pointer to 'volatile float', thread (3,0,0) of block (0,0,0)");
  EXPECT_EQ(fault_of("extern \"C\" __global__ void k(float* x) { x[threadIdx.x] = 1.f; }", 32), "");
}

TEST_F(HostFault, AMisalignedVectorAccessIsReported) {
  const std::string fault = fault_of(R"(extern "C" __global__ void k(float* x) {
  float4 v = *reinterpret_cast<const float4*>(x + 1);
  x[threadIdx.x] = v.x;
})",
                                     32);
  EXPECT_NE(fault.find("test.cu:2: misaligned access to 'const struct float4': address 0x"), std::string::npos)
      << fault;
  EXPECT_NE(fault.find("is not a multiple of 16, thread (0,0,0) of block (0,0,0)"), std::string::npos) << fault;
}

TEST_F(HostFault, AMisalignedLoadBehindAnIntrinsicIsReported) {
  const std::string fault = fault_of(R"(extern "C" __global__ void k(float* x) {
  x[threadIdx.x] = __ldg(reinterpret_cast<const float2*>(x + 1)).y;
})",
                                     1);
  EXPECT_NE(fault.find("misaligned access to 'const struct float2'"), std::string::npos) << fault;
}

TEST_F(HostFault, AnIndexOutsideOfASharedArrayIsReported) {
  EXPECT_EQ(fault_of(R"(extern "C" __global__ void k(float* x) {
  __shared__ float tile[32];
  tile[threadIdx.x + 1] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[threadIdx.x];
})",
                     32),
            "test.cu:3: index 32 is outside of 'float [32]', thread (31,0,0) of block (0,0,0)");
}

TEST_F(HostFault, AnOverrunOfDynamicSharedMemoryIsReported) {
  const auto module = load(R"(extern "C" __global__ void k(float* x) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = x[threadIdx.x];
})",
                           {"k"});
  std::vector<float> x(32, 1.0f);
  ASSERT_TRUE(run(module, "k", {pointer_to(x)}, {1, 32, 128}));
  const auto status = run(module, "k", {pointer_to(x)}, {1, 32, 124});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().reason, "block (0,0,0) of 'k' wrote beyond its 124 bytes of dynamic shared memory");
}

TEST_F(HostFault, AFailedAssertionAndATrapAreReported) {
  EXPECT_EQ(fault_of("extern \"C\" __global__ void k(float* x) {\n  assert(threadIdx.x < 4);\n}", 32),
            "test.cu:2: assertion failed: threadIdx.x < 4 (assert), thread (4,0,0) of block (0,0,0)");
  EXPECT_EQ(fault_of("extern \"C\" __global__ void k(float* x) {\n\n  __trap();\n}", 32),
            "test.cu:3: trap (__trap), thread (0,0,0) of block (0,0,0)");
}

TEST_F(HostFault, AfterAFaultEveryKernelStillGivesItsResult) {
  constexpr const char* kGood = R"(extern "C" __global__ void k(float* x) {
  __shared__ float tile[64];
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  x[threadIdx.x + 64 * blockIdx.x] = tile[63 - threadIdx.x] + __shfl_xor_sync(~0u, 1.0f, 1);
})";
  const auto good = load(kGood, {"k"});
  const auto bad = load("extern \"C\" __global__ void k(float* x) { if (threadIdx.x % 7) __syncthreads(); }", {"k"});
  std::vector<float> x(64 * 40, 0.0f);
  for (int round = 0; round < 20; ++round) {
    ASSERT_FALSE(run(bad, "k", {pointer_to(x)}, {40, 64, 0}));
    std::fill(x.begin(), x.end(), 0.0f);
    ASSERT_TRUE(run(good, "k", {pointer_to(x)}, {40, 64, 0}));
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], static_cast<float>(64 - i % 64)) << i;
  }
}

TEST_F(HostFault, RefusesLaunchesThatAGpuWouldRefuse) {
  const auto module = load("extern \"C\" __global__ void k(float* x, int n, float f) { x[0] = f * n; }", {"k"});
  device::PreparedLaunch launch;
  launch.module = module;
  launch.kernel = "k";
  launch.plan.block = {2048, 1, 1};
  EXPECT_EQ(device_->check(launch).error().reason, "block of 2048 threads: the device allows 1024");
  launch.plan.block = {512, 4, 1};
  EXPECT_EQ(device_->check(launch).error().reason, "block of 2048 threads: the device allows 1024");
  launch.plan.block = {32, 1, 1};
  launch.plan.smem_bytes = 300 * 1024;
  EXPECT_EQ(device_->check(launch).error().outcome, model::Outcome::kRejected);
  EXPECT_EQ(device_->check(launch).error().reason, "300.0 KiB of shared memory: the device allows 227.0 KiB a block");
  launch.plan.smem_bytes = 0;
  launch.plan.cluster = {2, 1, 1};
  EXPECT_EQ(device_->check(launch).error().reason, "cluster of 2×1×1 blocks: the device has no clusters");
  launch.plan.cluster = {1, 1, 1};
  EXPECT_TRUE(device_->check(launch));
  launch.kernel = "other";
  EXPECT_EQ(device_->check(launch).error().reason, "no kernel named 'other' in the module");
}

TEST_F(HostFault, RefusesArgumentsThatTheKernelDoesNotTake) {
  const auto module = load("extern \"C\" __global__ void k(float* x, int n, float f) { x[0] = f * n; }", {"k"});
  std::vector<float> x(1, 0.0f);
  ASSERT_TRUE(run(module, "k", {pointer_to(x), bytes_of<std::int64_t>(-3), bytes_of(2.0f)}, {1, 1, 0}));
  EXPECT_EQ(x[0], -6.0f);
  EXPECT_EQ(run(module, "k", {pointer_to(x), bytes_of(1)}).error().reason, "'k' takes 3 arguments, the launch gives 2");
  EXPECT_EQ(run(module, "k", {pointer_to(x), bytes_of<std::int64_t>(1), bytes_of(2.0)}).error().reason,
            "argument 3 of 'k' is 8 bytes long, the kernel takes a floating-point number of 4 bytes");
  EXPECT_EQ(run(module, "k", {pointer_to(x), bytes_of<std::int64_t>(5'000'000'000), bytes_of(2.0f)}).error().reason,
            "argument 2 of 'k' is an integer too large for it, the kernel takes an integer of 4 bytes");
}

TEST_F(HostFault, ReportsWhatCannotCompileWithItsLine) {
  const auto failed = compile(job_of("extern \"C\" __global__ void k(float* x) {\n  x[0] = y;\n}", {"k"}));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().outcome, model::Outcome::kCompileFailed);
  EXPECT_EQ(failed.error().reason, "test.cu:2:10: error: 'y' was not declared in this scope");
  const auto missing = compile(job_of("extern \"C\" __global__ void k(float* x) {}", {"other"}));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().reason, "the source has no kernel 'other'");
  const auto asserted =
      compile(job_of("extern \"C\" __global__ void k(float*) {\n  static_assert(KIND != 2, \"not supported\");\n}",
                     {"k"}, {{"KIND", "2"}}));
  ASSERT_FALSE(asserted);
  EXPECT_EQ(asserted.error().reason, "test.cu:2:22: error: static assertion failed: not supported");
}

TEST_F(HostFault, EndsACompileAtItsDeadline) {
  CompileJob job = job_of("extern \"C\" __global__ void k(float* x) { x[0] = 1.f; }", {"k"});
  ASSERT_TRUE(compile(job));
  job.deadline_s = 0.05;
  const auto failed = compile(job);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().outcome, model::Outcome::kTimedOut);
  EXPECT_EQ(failed.error().reason, "compiling took more than 0.05 s");
}

}  // namespace
}  // namespace ktune::compile
