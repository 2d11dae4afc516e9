#include "compile/cuda_gpu_test.h"

// Counters slow launches and hold clocks: these tests time nothing. ctest runs each in a process of its own.

namespace ktune::compile {
namespace {

using model::CacheState;
using model::Timer;

class CudaCounters : public CudaGpu {
 protected:
  void SetUp() override {
    CudaGpu::SetUp();
    if (device_ == nullptr || IsSkipped()) return;
    proof_ = device_->prove_eviction();
    if (!proof_) GTEST_SKIP() << "no counters: " << proof_.error().reason << "; " << proof_.error().detail;
  }
  model::Result<EvictionProof> proof_ = EvictionProof{};
};

TEST_F(CudaCounters, AReadBehindTheEvictionComesFromDram) {
  const double bytes = static_cast<double>(proof_->bytes);
  note("read_behind_eviction_cold", static_cast<double>(proof_->cold_read) / 1e6, "MB from DRAM");
  note("read_behind_eviction_warm", static_cast<double>(proof_->warm_read) / 1e6, "MB from DRAM");
  note("read_behind_eviction_written", static_cast<double>(proof_->written) / 1e6, "MB to DRAM");
  EXPECT_GE(static_cast<double>(proof_->cold_read), 0.95 * bytes);
  EXPECT_LE(static_cast<double>(proof_->cold_read), 1.05 * bytes);
  EXPECT_LE(static_cast<double>(proof_->warm_read), 0.2 * bytes);
  EXPECT_LE(static_cast<double>(proof_->written), 0.05 * bytes);
}

TEST_F(CudaCounters, CountsWhatACopyMovesWritesThatStayInL2Included) {
  for (const std::int64_t mib : {std::int64_t{64}, std::int64_t{256}}) {
    const std::int64_t bytes = mib << 20;
    const DevicePtr from = allocate(bytes);
    const DevicePtr to = allocate(bytes);
    ASSERT_TRUE(device_->poison(from, bytes, 0x01020304U));
    const auto traffic = device_->traffic(call_of(copy_launch(from, to, bytes)));
    ASSERT_TRUE(traffic) << traffic.error().reason;
    note(("copy_" + std::to_string(mib) + "_MiB_read").c_str(), static_cast<double>(traffic->read) / 1e6, "MB");
    note(("copy_" + std::to_string(mib) + "_MiB_written").c_str(), static_cast<double>(traffic->written) / 1e6, "MB");
    EXPECT_NEAR(static_cast<double>(traffic->read), static_cast<double>(bytes), 0.02 * static_cast<double>(bytes));
    EXPECT_NEAR(static_cast<double>(traffic->written), static_cast<double>(bytes), 0.02 * static_cast<double>(bytes));
  }
}

TEST_F(CudaGpu, TimesItsOwnKernelsOfKnownDuration) {
  for (const Timer timer : device_->timers()) {
    const auto spin = device_->time_probe({Probe::Kind::kSpin, 20.0, 0}, {100, CacheState::kCold, timer});
    const auto nothing = device_->time_probe({Probe::Kind::kEmpty, 0.0, 0}, {100, CacheState::kCold, timer});
    ASSERT_TRUE(spin) << model::name_of(timer) << ": " << spin.error().reason;
    ASSERT_TRUE(nothing) << model::name_of(timer) << ": " << nothing.error().reason;
    note(("spin_20us_" + std::string(model::name_of(timer))).c_str(), median(*spin), "us");
    note(("empty_kernel_" + std::string(model::name_of(timer))).c_str(), median(*nothing), "us");
    // Between: a launch's own cost is in the time of the empty kernel as a whole, and in part behind the longer one.
    EXPECT_GE(median(*spin), 20.0) << model::name_of(timer);
    EXPECT_LE(median(*spin), 20.5 + median(*nothing)) << model::name_of(timer);
  }
  const auto pair = device_->time_probe({}, {100, CacheState::kCold, Timer::kEvents});
  const auto empty = device_->time_probe({Probe::Kind::kEmpty, 0.0, 0}, {100, CacheState::kCold, Timer::kEvents});
  const auto copy = device_->time_probe({Probe::Kind::kCopy, 0.0, 16 << 20}, {100, CacheState::kCold, Timer::kEvents});
  ASSERT_TRUE(pair && empty && copy);
  note("empty_pair", median(*pair), "us");
  note("empty_kernel", median(*empty), "us");
  note("copy_16_MiB", median(*copy), "us");
  EXPECT_LT(median(*pair), median(*empty));
  EXPECT_LT(median(*empty), median(*copy));
}

}  // namespace
}  // namespace ktune::compile
