#include <csignal>

#include "compile/host_kernel_fixture.h"

// The CPU device itself: its facts, its memory, its clock, and its last words.

namespace ktune::compile {
namespace {

using HostDevice = HostKernelTest;

TEST_F(HostDevice, SaysWhatItIs) {
  const model::DeviceFacts& facts = device_->facts();
  EXPECT_EQ(facts.kind, "cpu");
  EXPECT_EQ(facts.target, "cpu");
  EXPECT_EQ(facts.sm, 90);
  EXPECT_EQ(facts.smem_optin, 232448);
  EXPECT_EQ(facts.max_threads, 1024);
  EXPECT_GE(facts.sm_count, 1);
  EXPECT_FALSE(facts.name.empty());
  EXPECT_EQ(facts.spec_gbps, 0.0);  // its times say nothing of a GPU
  EXPECT_EQ(device_->timers(), std::vector<model::Timer>{model::Timer::kHost});
}

TEST_F(HostDevice, GivesAlignedMemoryAndSaysWhenThereIsNone) {
  const auto small = device_->allocate(3);
  const auto empty = device_->allocate(0);
  ASSERT_TRUE(small);
  ASSERT_TRUE(empty);
  EXPECT_EQ(*small % 256, 0u);
  EXPECT_NE(*small, *empty);
  device_->release(*small);
  device_->release(*empty);
  const auto huge = device_->allocate(std::int64_t{1} << 50);
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().outcome, model::Outcome::kRejected);
  EXPECT_NE(huge.error().reason.find("1.0 PiB of memory are not to be had"), std::string::npos) << huge.error().reason;
}

TEST_F(HostDevice, TimesEachCallOnTheNextOfItsBufferSets) {
  const auto module = load("extern \"C\" __global__ void k(int* calls) { if (threadIdx.x == 0) *calls += 1; }", {"k"});
  std::vector<int> first(1, 0);
  std::vector<int> second(1, 0);
  device::PreparedLaunch launch;
  launch.module = module;
  launch.kernel = "k";
  launch.plan.block = {32, 1, 1};
  std::vector<device::TimedCall> rotation;
  for (auto* calls : {&first, &second}) {
    launch.args = {pointer_to(*calls)};
    rotation.push_back({{launch}, {}, {}});
  }
  for (const auto state : {model::CacheState::kCold, model::CacheState::kDirty, model::CacheState::kWarm}) {
    const auto samples = device_->time(rotation, {5, state, model::Timer::kHost});
    ASSERT_TRUE(samples);
    ASSERT_EQ(samples->time_us.size(), 5u);
    for (const double time_us : samples->time_us) EXPECT_GT(time_us, 0.0);
  }
  EXPECT_EQ(first[0], 9);
  EXPECT_EQ(second[0], 6);
  EXPECT_FALSE(device_->time(rotation, {1, model::CacheState::kCold, model::Timer::kCupti}));
}

TEST_F(HostDevice, RunsTheLaunchesOfASequenceInOrder) {
  const auto module = load(R"(
extern "C" __global__ void fill(int* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x; }
extern "C" __global__ void sum(const int* x, int* out, int n) {
  int s = 0;
  for (int i = 0; i < n; ++i) s += x[i];
  *out = s;
})",
                           {"fill", "sum"});
  std::vector<int> x(64 * 32, -1);
  std::vector<int> out(1, -1);
  device::PreparedLaunch fill;
  fill.module = module;
  fill.kernel = "fill";
  fill.args = {pointer_to(x)};
  fill.plan.grid = {64, 1, 1};
  fill.plan.block = {32, 1, 1};
  device::PreparedLaunch sum;
  sum.module = module;
  sum.kernel = "sum";
  sum.args = {pointer_to(x), pointer_to(out), bytes_of<std::int64_t>(64 * 32)};
  ASSERT_TRUE(device_->launch({fill, sum}));
  EXPECT_EQ(out[0], 32 * 2016);
}

TEST_F(HostDevice, RefusesABinaryForAnotherTargetAndAFileThatIsNone) {
  auto binary = compile(job_of("extern \"C\" __global__ void k() {}", {"k"}));
  ASSERT_TRUE(binary);
  ASSERT_TRUE(device_->load(*binary));
  binary->target = "sm_90";
  EXPECT_EQ(device_->load(*binary).error().reason, "a kernel compiled for sm_90 does not run on cpu");
  binary->target = "cpu";
  binary->path = (dir_ / "none.so").string();
  EXPECT_EQ(device_->load(*binary).error().reason, "the compiled kernel cannot be loaded");
}

TEST_F(HostDevice, KnowsTheSharedMemoryOfASingleKernel) {
  const auto module = load(
      "extern \"C\" __global__ void k(float* x) { __shared__ float s[300]; s[threadIdx.x] = *x; *x = s[0]; }", {"k"});
  const auto resources = device_->resources(module, "k");
  ASSERT_TRUE(resources);
  EXPECT_EQ(resources->shared_bytes, 1200);
  EXPECT_EQ(resources->registers, -1);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// A sanitizer of ktune's own has its say here instead.

TEST_F(HostDevice, NamesKernelBlockAndThreadBeforeItDiesOfAWildPointer) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto module = load(
      "extern \"C\" __global__ void k(int* x) { if (threadIdx.x == 5 && blockIdx.x == 0) *(volatile int*)0x12340 = 1; "
      "}",
      {"k"});
  std::vector<int> x(1);
  EXPECT_EXIT(
      run(module, "k", {pointer_to(x)}), testing::KilledBySignal(SIGSEGV),
      "ktune: kernel fault: segmentation fault in 'k', block \\(0,0,0\\) thread \\(5,0,0\\), address 0x12340\n");
}

TEST_F(HostDevice, HasAStackLeftToReportThatAKernelUsedUpItsOwn) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto module = load(R"(
__device__ __noinline__ int deep(volatile int* x, int n) { volatile int big[64]; big[n % 64] = *x; return n == 0 ? 0 : deep(x, n - 1) + big[n % 64]; }
extern "C" __global__ void k(int* x) { *x = deep(x, 100000); })",
                           {"k"});
  std::vector<int> x(1);
  EXPECT_EXIT(run(module, "k", {pointer_to(x)}), testing::KilledBySignal(SIGSEGV),
              "kernel fault: segmentation fault in 'k'");
}
#endif

}  // namespace
}  // namespace ktune::compile
