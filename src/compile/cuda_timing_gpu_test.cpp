#include "compile/cuda_gpu_test.h"

// What only a GPU can show: times and cache states.

namespace ktune::compile {
namespace {

using model::CacheState;
using model::DType;
using model::InitKind;
using model::Timer;

TEST_F(CudaGpu, TimesAnEmptyKernel) {
  const std::vector<TimedCall> rotation{call_of(prepare("nothing", 1, 32, {}))};
  ASSERT_TRUE(device_->launch(rotation[0].launches));
  const double cold = median(time(rotation, 200, CacheState::kCold));
  const double warm = median(time(rotation, 200, CacheState::kWarm));
  note("empty_cold", cold, "us");
  note("empty_warm", warm, "us");
  for (const double us : {cold, warm}) {
    EXPECT_GT(us, 1.0);
    EXPECT_LT(us, 10.0);
  }
}

TEST_F(CudaGpu, TimesAKernelOfKnownLength) {
  const std::vector<TimedCall> rotation{call_of(prepare("spin", 1, 1, {arg(std::uint64_t{200'000})}))};
  for (const CacheState state : {CacheState::kCold, CacheState::kDirty, CacheState::kWarm}) {
    EXPECT_NEAR(median(time(rotation, 20, state)), 202.0, 6.0) << model::name_of(state);
  }
}

TEST_F(CudaGpu, CopiesAtTheMemorysRate) {
  constexpr std::int64_t kBytes = std::int64_t{256} << 20;
  const DevicePtr from = allocate(kBytes);
  const DevicePtr to = allocate(kBytes);
  const std::vector<TimedCall> rotation{call_of(copy_launch(from, to, kBytes))};
  model::TensorPlan plan = plan_of(DType::kF32, {kBytes / 4}, {1}, 0, kBytes / 4, InitKind::kNormal);
  const double start_s = now_s();
  ASSERT_TRUE(device_->initialise(from, plan, 1));
  ASSERT_TRUE(device_->synchronize());
  note("fill_256_MiB", (now_s() - start_s) * 1e3, "ms");
  const double us = median(time(rotation, 50, CacheState::kCold));
  const double gbps = 2.0 * kBytes / us / 1e3;
  note("copy_256_MiB", gbps, "GB/s");
  ASSERT_TRUE(device_->synchronize());
  EXPECT_EQ(*device_->checksum(from, kBytes), *device_->checksum(to, kBytes));
  if (device_->facts().name.find("H200") != std::string::npos) {
    EXPECT_NEAR(gbps, 4200, 840);
  }
}

TEST_F(CudaGpu, EvictsAndLeavesL2CleanWhenCold) {
  // Half of L2: warm it is read from there, cold it is not, dirty it pays for others' write-back too.
  const std::int64_t bytes = device_->facts().l2_bytes / 4 / 16 * 16;
  const DevicePtr data = allocate(bytes);
  const DevicePtr sink = allocate(4);
  ASSERT_TRUE(device_->poison(data, bytes, 0x3f800000U));
  const std::vector<TimedCall> rotation{
      call_of(prepare("read", 4L * device_->facts().sm_count, 256, {arg(data), arg(sink), arg(bytes / 16)}))};
  const double warm = median(time(rotation, 200, CacheState::kWarm));
  const double cold = median(time(rotation, 200, CacheState::kCold));
  const double dirty = median(time(rotation, 200, CacheState::kDirty));
  note("read_quarter_L2_warm", warm, "us");
  note("read_quarter_L2_cold", cold, "us");
  note("read_quarter_L2_dirty", dirty, "us");
  EXPECT_GT(cold, warm * 1.2);
  EXPECT_GT(dirty, cold * 1.02);
}

TEST_F(CudaGpu, RotatesThroughTheSetsGiven) {
  constexpr std::int64_t kBytes = 1 << 20;
  std::vector<TimedCall> rotation;
  std::vector<DevicePtr> targets;
  const DevicePtr from = allocate(kBytes);
  ASSERT_TRUE(device_->poison(from, kBytes, 0x01020304U));
  for (int set = 0; set < 3; ++set) {
    targets.push_back(allocate(kBytes));
    ASSERT_TRUE(device_->poison(targets.back(), kBytes, 0));
    rotation.push_back(call_of(copy_launch(from, targets.back(), kBytes)));
  }
  time(rotation, 2, CacheState::kCold);
  EXPECT_EQ(*device_->first_changed(targets[0], kBytes, 0x01020304U), -1);
  EXPECT_EQ(*device_->first_changed(targets[1], kBytes, 0x01020304U), -1);
  EXPECT_EQ(*device_->first_changed(targets[2], kBytes, 0U), -1);
  time(rotation, 300, CacheState::kCold);
  EXPECT_EQ(*device_->first_changed(targets[2], kBytes, 0x01020304U), -1);
}

TEST_F(CudaGpu, TimesWithCuptiAndInAGraph) {
  const auto timers = device_->timers();
  EXPECT_EQ(timers[0], Timer::kEvents);
  EXPECT_NE(std::find(timers.begin(), timers.end(), Timer::kGraph), timers.end());
  constexpr std::int64_t kBytes = 4 << 20;
  const DevicePtr from = allocate(kBytes);
  const DevicePtr to = allocate(kBytes);
  const std::vector<TimedCall> spin(24, call_of(prepare("spin", 1, 1, {arg(std::uint64_t{50'000})})));
  const std::vector<TimedCall> copy(24, call_of(copy_launch(from, to, kBytes)));
  const std::vector<TimedCall> two{{{copy_launch(from, to, kBytes), copy_launch(to, from, kBytes)}, {}, {}}};
  const double events = median(time(copy, 100, CacheState::kCold));
  note("copy_4_MiB_events", events, "us");
  EXPECT_NEAR(median(time(spin, 10, CacheState::kCold, Timer::kGraph)), 51.0, 3.0);
  note("copy_4_MiB_graph", median(time(copy, 20, CacheState::kWarm, Timer::kGraph)), "us");
  if (std::find(timers.begin(), timers.end(), Timer::kCupti) == timers.end()) GTEST_SKIP() << "no CUPTI";
  EXPECT_NEAR(median(time(spin, 10, CacheState::kCold, Timer::kCupti)), 50.0, 3.0);
  const double cupti = median(time(copy, 150, CacheState::kCold, Timer::kCupti));
  note("copy_4_MiB_cupti", cupti, "us");
  EXPECT_LT(cupti, events);
  EXPECT_GT(median(time(two, 50, CacheState::kCold, Timer::kCupti)), cupti * 1.3);
  EXPECT_EQ(time(copy, 40, CacheState::kWarm, Timer::kCupti).size(), 40U);
  EXPECT_EQ(time(copy, 40, CacheState::kDirty, Timer::kCupti).size(), 40U);
  const double after = median(time(copy, 100, CacheState::kCold));
  note("copy_4_MiB_events_after_cupti", after, "us");
  EXPECT_LT(after, events + 1.5);
}

/// y[i] = x[i] + 1 in place, over sets of its own; `wrong` launches in a row, from number `from` on, add 2.
class CudaGpuFresh : public CudaGpu {
 protected:
  static constexpr std::int64_t kElements = 5000;
  static constexpr std::int64_t kFlags = 1003;  // bytes: no whole words

  TimedCall add_call(float by) {
    const std::int64_t bytes = kElements * 4;
    const DevicePtr y = allocate(bytes);
    const DevicePtr first = allocate(bytes);
    const DevicePtr reference = allocate(bytes);
    const DevicePtr flags = allocate(kFlags);
    std::vector<float> host(kElements);
    for (std::int64_t i = 0; i < kElements; ++i) host[static_cast<std::size_t>(i)] = static_cast<float>(i + y % 97);
    EXPECT_TRUE(device_->write(first, host.data(), bytes));
    for (float& value : host) value += 1.0f;
    EXPECT_TRUE(device_->write(reference, host.data(), bytes));
    const auto n = static_cast<int>(kElements);
    TimedCall call = call_of(prepare("add", 4, 256, {arg(y), arg(y), arg(n), arg(by)}));
    call.renewals = {{y, first, bytes, 0}, {flags, 0, kFlags, 0x7ff57ff5U}};
    call.checks = {{y, reference, plan_of(DType::kF32, {kElements}, {1}, 0, kElements, InitKind::kZeros), {0, 1}}};
    return call;
  }
};

TEST_F(CudaGpuFresh, RenewsOperandsBeforeEachTimedLaunchByEveryTimer) {
  std::vector<TimedCall> rotation;
  for (int set = 0; set < 8; ++set) rotation.push_back(add_call(1.0f));
  for (const Timer timer : device_->timers()) {
    for (const CacheState state : {CacheState::kCold, CacheState::kDirty, CacheState::kWarm}) {
      const auto timed = device_->time(rotation, {150, state, timer});
      ASSERT_TRUE(timed) << timed.error().reason;
      EXPECT_FALSE(timed->wrong) << model::name_of(timer) << " " << model::name_of(state);
      EXPECT_EQ(timed->time_us.size(), 150U);
    }
  }
}

TEST_F(CudaGpuFresh, FindsTheFirstTimedLaunchThatIsWrongByEveryTimer) {
  std::vector<TimedCall> rotation;
  for (int set = 0; set < 8; ++set) rotation.push_back(add_call(set == 5 ? 2.0f : 1.0f));
  for (const Timer timer : device_->timers()) {
    for (const CacheState state : {CacheState::kCold, CacheState::kWarm}) {
      const auto timed = device_->time(rotation, {150, state, timer});
      ASSERT_TRUE(timed) << timed.error().reason;
      ASSERT_TRUE(timed->wrong) << model::name_of(timer) << " " << model::name_of(state);
      EXPECT_EQ(timed->wrong->sample, 5);
      EXPECT_EQ(timed->wrong->set, 5U);
      EXPECT_EQ(timed->wrong->result.mismatches, kElements);
      EXPECT_EQ(timed->wrong->result.first, 0);
      EXPECT_EQ(timed->wrong->result.first_out - timed->wrong->result.first_ref, 1.0);
    }
  }
}

TEST_F(CudaGpu, ColdSamplesAreTakenFast) {
  const std::vector<TimedCall> rotation{call_of(prepare("nothing", 1, 32, {}))};
  time(rotation, 10, CacheState::kCold);
  for (const CacheState state : {CacheState::kCold, CacheState::kDirty, CacheState::kWarm}) {
    const double start_s = now_s();
    time(rotation, 500, state);
    note(std::string(model::name_of(state)).c_str(), (now_s() - start_s) / 500 * 1e6, "us of wall time a sample");
  }
}

}  // namespace
}  // namespace ktune::compile
