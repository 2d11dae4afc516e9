#include "compile/cuda_gpu_test.h"

#include <numeric>

#include "device/host_memory.h"

// What only a GPU can show: memory, launches and limits.

namespace ktune::compile {
namespace {

using model::DType;
using model::InitKind;
using model::Outcome;

bool equal(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

TEST_F(CudaGpu, SaysWhatItIs) {
  const model::DeviceFacts& facts = device_->facts();
  EXPECT_EQ(facts.kind, "cuda");
  EXPECT_EQ(facts.target, "sm_" + std::to_string(facts.sm));
  EXPECT_EQ(facts.uuid.size(), 40U) << facts.uuid;
  EXPECT_GT(facts.sm_count, 0);
  EXPECT_GE(facts.driver_cuda, 12000);
  EXPECT_FALSE(facts.driver.empty());
  const model::MachineState state = device_->state();
  std::fprintf(stdout, "  %s %s sm_%d, %d SMs, L2 %lld, smem %lld, driver %s (%d), %s, %.0f W, ecc %d, mig %d\n",
               facts.name.c_str(), facts.uuid.c_str(), facts.sm, facts.sm_count, static_cast<long long>(facts.l2_bytes),
               static_cast<long long>(facts.smem_optin), facts.driver.c_str(), facts.driver_cuda, facts.toolkit.c_str(),
               facts.power_limit_w, facts.ecc, facts.mig);
  std::fprintf(stdout, "  now: sm %.0f MHz, memory %.0f MHz, %.0f W, %.0f C, throttle %llx, others %d\n",
               state.sm_clock_mhz, state.memory_clock_mhz, state.power_w, state.temperature_c,
               static_cast<unsigned long long>(state.throttle_bits), state.other_processes);
  EXPECT_GT(state.sm_clock_mhz, 0);
  EXPECT_GT(state.power_w, 0);
  EXPECT_GE(state.other_processes, 0);
  if (facts.name.find("H200") == std::string::npos) return;
  EXPECT_EQ(facts.sm, 90);
  EXPECT_EQ(facts.sm_count, 132);
  EXPECT_EQ(facts.l2_bytes, 60 << 20);
  EXPECT_EQ(facts.memory_clock_mhz, 3201);
  EXPECT_EQ(facts.bus_bits, 6016);
  EXPECT_NEAR(facts.spec_gbps, 4814, 1);
  EXPECT_EQ(facts.smem_optin, 232448);
}

TEST_F(CudaGpu, FillsLikeTheHost) {
  for (const DType dtype : model::all_dtypes()) {
    for (const InitKind kind : {InitKind::kUniform, InitKind::kNormal, InitKind::kRandint, InitKind::kZeroRow,
                                InitKind::kConstant, InitKind::kOnes, InitKind::kSpecial}) {
      model::TensorPlan plan = plan_of(dtype, {7, 65}, {80, 1}, 3, 3 + 6 * 80 + 65, kind);
      if (kind == InitKind::kRandint) plan.init = {kind, -50.0, 60.0};
      if (kind == InitKind::kConstant) plan.init = {kind, 1.1, 0.0};
      std::vector<std::uint8_t> expected(static_cast<std::size_t>(plan.storage_bytes()));
      host_initialise(expected.data(), plan, 1234);
      const DevicePtr base = allocate(plan.storage_bytes());
      ASSERT_TRUE(device_->initialise(base, plan, 1234));
      const std::vector<std::uint8_t> got = fetch(base, plan.storage_bytes());
      const bool exact = kind != InitKind::kNormal && kind != InitKind::kZeroRow && kind != InitKind::kSpecial;
      if (exact) {
        EXPECT_EQ(got, expected) << model::name_of(dtype) << " kind " << static_cast<int>(kind);
      }
      const int size = model::size_of(dtype);
      for (std::int64_t i = 0; i < plan.storage; ++i) {
        const double a = load_element(dtype, got.data() + i * size);
        const double b = load_element(dtype, expected.data() + i * size);
        if (std::isfinite(b)) {
          const double step = model::unit_roundoff(dtype) == 0.0 ? 1.0 : 2 * model::unit_roundoff(dtype) * std::fabs(b);
          ASSERT_NEAR(a, b, std::max(1e-5, step)) << model::name_of(dtype) << " at " << i;
        } else {
          ASSERT_TRUE(equal(a, b)) << model::name_of(dtype) << " at " << i;
        }
      }
      device_->release(base);
    }
  }
}

TEST_F(CudaGpu, FillsAnExpandedTensorLikeTheHost) {
  const model::TensorPlan plan = plan_of(DType::kF32, {5, 33}, {0, 1}, 1, 34, InitKind::kUniform);
  std::vector<std::uint8_t> expected(static_cast<std::size_t>(plan.storage_bytes()));
  host_initialise(expected.data(), plan, 7);
  const DevicePtr base = allocate(plan.storage_bytes());
  ASSERT_TRUE(device_->initialise(base, plan, 7));
  EXPECT_EQ(fetch(base, plan.storage_bytes()), expected);
}

TEST_F(CudaGpu, PoisonsAnyLengthAndFindsTheFirstChangedByte) {
  constexpr std::uint32_t kPattern = 0xdeadbeefU;
  const DevicePtr base = allocate(4096);
  for (const std::int64_t start : {0, 2, 3}) {
    for (const std::int64_t bytes : {1, 3, 4, 7, 1024, 1029}) {
      ASSERT_TRUE(device_->poison(base, 4096, 0));
      ASSERT_TRUE(device_->poison(base + static_cast<DevicePtr>(start), bytes, kPattern));
      std::vector<std::uint8_t> expected(4096, 0);
      host_poison(expected.data() + start, bytes, kPattern);
      ASSERT_EQ(fetch(base, 4096), expected) << start << " " << bytes;
      const auto clean = device_->first_changed(base + static_cast<DevicePtr>(start), bytes, kPattern);
      ASSERT_TRUE(clean);
      EXPECT_EQ(*clean, -1);
      const std::uint8_t other = 0;
      ASSERT_TRUE(device_->write(base + static_cast<DevicePtr>(start + bytes - 1), &other, 1));
      EXPECT_EQ(*device_->first_changed(base + static_cast<DevicePtr>(start), bytes, kPattern), bytes - 1);
      ASSERT_TRUE(device_->write(base + static_cast<DevicePtr>(start + bytes / 2), &other, 1));
      EXPECT_EQ(*device_->first_changed(base + static_cast<DevicePtr>(start), bytes, kPattern), bytes / 2);
    }
  }
}

TEST_F(CudaGpu, ComparesLikeTheHost) {
  constexpr std::uint32_t kPoison = 0x7fa17fa1U;
  for (const DType dtype : model::all_dtypes()) {
    model::TensorPlan plan = plan_of(dtype, {9, 50}, {64, 1}, 2, 2 + 8 * 64 + 50, InitKind::kRandint);
    plan.init = {InitKind::kRandint, 1.0, 100.0};
    plan.tolerance = {0.01, 0.02};
    const int size = model::size_of(dtype);
    const auto bytes = static_cast<std::size_t>(plan.storage_bytes());
    std::vector<std::uint8_t> reference(bytes);
    host_initialise(reference.data(), plan, 5);
    for (std::int64_t i = 0; i < plan.storage; ++i) {  // between rows: poison instead of the gap pattern
      const std::int64_t at = (i - plan.offset) % 64;
      if (i < plan.offset || at >= 50) {
        std::vector<std::uint8_t> pattern(bytes);
        host_poison(pattern.data(), plan.storage_bytes(), kPoison);
        std::memcpy(reference.data() + i * size, pattern.data() + i * size, static_cast<std::size_t>(size));
      }
    }
    std::vector<std::uint8_t> out = reference;
    const auto put = [&](std::int64_t index, double value) { store_element(dtype, out.data() + index * size, value); };
    const DevicePtr a = allocate(plan.storage_bytes());
    const DevicePtr b = allocate(plan.storage_bytes());
    Share share;
    Poison poisons{kPoison, kPoison};
    const auto near = [](double one, double other) { return one == other || std::fabs(one - other) <= 1e-9 * other; };
    const auto same = [&](const char* what) {
      ASSERT_TRUE(device_->write(a, out.data(), plan.storage_bytes()));
      ASSERT_TRUE(device_->write(b, reference.data(), plan.storage_bytes()));
      const auto got = device_->compare(a, b, plan, poisons, share);
      ASSERT_TRUE(got) << got.error().reason;
      const CompareResult want = host_compare(out.data(), reference.data(), plan, poisons, share);
      EXPECT_EQ(got->elements, want.elements) << what << " " << model::name_of(dtype);
      EXPECT_EQ(got->mismatches, want.mismatches) << what << " " << model::name_of(dtype);
      EXPECT_EQ(got->unwritten, want.unwritten) << what << " " << model::name_of(dtype);
      EXPECT_EQ(got->first, want.first) << what << " " << model::name_of(dtype);
      EXPECT_TRUE(equal(got->first_out, want.first_out)) << what << " " << model::name_of(dtype);
      EXPECT_TRUE(equal(got->first_ref, want.first_ref)) << what << " " << model::name_of(dtype);
      EXPECT_NEAR(got->worst_margin, want.worst_margin, 1e-12 * want.worst_margin) << what;
      EXPECT_NEAR(got->rms_margin, want.rms_margin, 1e-9 * want.rms_margin) << what << " " << model::name_of(dtype);
      // Infinite where an f64 is poison: its square is.
      EXPECT_TRUE(near(got->mean_size, want.mean_size)) << what << " " << model::name_of(dtype);
      EXPECT_TRUE(near(got->rms_size, want.rms_size)) << what << " " << model::name_of(dtype);
    };
    same("equal");
    put(70, size == 1 ? 120.0 : 1000.0);
    put(200, 0.0);
    same("two wrong");
    put(52, 5.0);  // between rows: written where the reference is poison
    std::memcpy(out.data() + 300 * size, out.data() + 53 * size, static_cast<std::size_t>(size));
    same("written between rows");
    for (std::int64_t phase = 0; phase < 3; ++phase) {
      share = {3, phase};
      same("a share");
    }
    share = {};
    poisons = {~kPoison, kPoison, false};
    same("other poison, none may stay");
    device_->release(a);
    device_->release(b);
  }
}

TEST_F(CudaGpu, ComparesNanAndInfinityAsValues) {
  model::TensorPlan plan = plan_of(DType::kF32, {6}, {1}, 0, 6, InitKind::kZeros);
  plan.tolerance = {1e-3, 0.0};
  const float inf = INFINITY;
  const std::vector<float> reference{NAN, inf, -inf, 1.0f, 2.0f, 0.0f};
  const std::vector<float> right{NAN, inf, -inf, 1.0f, 2.001f, -0.0f};
  const std::vector<float> wrong{1.0f, -inf, 3.0f, NAN, inf, 0.0f};
  const DevicePtr a = allocate(24);
  const DevicePtr b = allocate(24);
  ASSERT_TRUE(device_->write(b, reference.data(), 24));
  ASSERT_TRUE(device_->write(a, right.data(), 24));
  EXPECT_EQ(device_->compare(a, b, plan, {0xdeadbeefU, 0xdeadbeefU})->mismatches, 0);
  ASSERT_TRUE(device_->write(a, wrong.data(), 24));
  EXPECT_EQ(device_->compare(a, b, plan, {0xdeadbeefU, 0xdeadbeefU})->mismatches, 5);
  EXPECT_EQ(device_->compare(a, b, plan, {0xdeadbeefU, 0xdeadbeefU})->first, 0);
}

TEST_F(CudaGpu, ChecksumsLikeTheHost) {
  std::vector<std::uint8_t> host(100003);
  std::iota(host.begin(), host.end(), std::uint8_t{3});
  const DevicePtr base = allocate(100008);
  for (const std::int64_t start : {0, 1}) {
    for (const std::int64_t bytes : {1, 4, 6, 100002}) {
      ASSERT_TRUE(device_->write(base, host.data(), 100003));
      EXPECT_EQ(*device_->checksum(base + static_cast<DevicePtr>(start), bytes),
                host_checksum(host.data() + start, bytes));
    }
  }
}

TEST_F(CudaGpu, LaunchesAndCopies) {
  const std::vector<float> x{1.0f, 2.0f, 3.0f};
  const DevicePtr in = allocate(12);
  const DevicePtr out = allocate(12);
  const DevicePtr twin = allocate(12);
  ASSERT_TRUE(device_->write(in, x.data(), 12));
  const PreparedLaunch add = prepare("add", 1, 32, {arg(in), arg(out), arg(std::int64_t{3}), arg(0.5f)});
  ASSERT_TRUE(device_->check(add));
  ASSERT_TRUE(device_->launch({add}));
  ASSERT_TRUE(device_->synchronize());
  ASSERT_TRUE(device_->copy(twin, out, 12));
  std::vector<float> got(3);
  ASSERT_TRUE(device_->read(got.data(), twin, 12));
  EXPECT_EQ(got, (std::vector<float>{1.5f, 2.5f, 3.5f}));
  const auto resources = device_->resources(module_, "add");
  ASSERT_TRUE(resources);
  EXPECT_GT(resources->registers, 0);
  EXPECT_EQ(resources->local_bytes, 0);
}

TEST_F(CudaGpu, FindsAKernelWithoutExternC) {
  const DevicePtr out = allocate(4);
  ASSERT_TRUE(device_->launch({prepare("mangled", 1, 1, {arg(out)})}));
  int got = 0;
  ASSERT_TRUE(device_->read(&got, out, 4));
  EXPECT_EQ(got, 42);
  const auto missing = device_->resources(module_, "mang");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().outcome, Outcome::kLaunchFailed);
}

TEST_F(CudaGpu, RefusesArgumentsThatAreNotTheKernels) {
  const DevicePtr out = allocate(64);
  const auto few = device_->check(prepare("add", 1, 32, {arg(out), arg(out), arg(std::int64_t{3})}));
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().reason, "add takes 4 arguments, the launch gives 3");
  const auto small = device_->check(prepare("add", 1, 32, {arg(out), arg(out), arg(std::int16_t{3}), arg(0.5f)}));
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().reason, "argument 2 of add takes 4 bytes, the launch gives 2");
}

TEST_F(CudaGpu, GivesAllTheSharedMemoryThereIsAndRejectsMore) {
  const std::int64_t most = device_->facts().smem_optin;
  const DevicePtr out = allocate(4);
  PreparedLaunch launch = prepare("dynamic_shared", 1, 128, {arg(out), arg(most / 4)});
  launch.plan.smem_bytes = most;
  const auto fits = device_->check(launch);
  ASSERT_TRUE(fits) << fits.error().reason;
  ASSERT_TRUE(device_->launch({launch}));
  unsigned got = 0;
  ASSERT_TRUE(device_->read(&got, out, 4));
  EXPECT_EQ(got, static_cast<unsigned>(most / 4 - 1));
  launch.plan.smem_bytes = most + 1024;
  const auto more = device_->check(launch);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().outcome, Outcome::kRejected);
  const auto memory = device_->allocate(std::int64_t{1} << 50);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().outcome, Outcome::kRejected);
}

TEST_F(CudaGpu, LaunchesClusters) {
  if (device_->facts().sm < 90) GTEST_SKIP() << "sm_" << device_->facts().sm << " has no clusters";
  const DevicePtr out = allocate(4 * 32);
  for (const std::int64_t size : {2, 8, 16}) {
    PreparedLaunch launch = prepare("cluster_rank", 32, 128, {arg(out)});
    launch.plan.cluster = {size, 1, 1};
    launch.plan.pdl = true;
    const auto fits = device_->check(launch);
    ASSERT_TRUE(fits) << fits.error().reason;
    ASSERT_TRUE(device_->launch({launch}));
    std::vector<unsigned> got(32);
    ASSERT_TRUE(device_->read(got.data(), out, 128));
    for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(got[i], i % static_cast<unsigned>(size));
  }
}

/// What breaks a context, and what every call says after it; the line of the first check that fails, 0 when all hold.
int break_context(Device& device, const PreparedLaunch& out_of_bounds, DevicePtr data) {
  const auto launched = device.launch({out_of_bounds});
  const auto ended = device.synchronize();
  if (ended) return __LINE__;
  if (ended.error().outcome != Outcome::kCrashed) return __LINE__;
  if (ended.error().reason.find("CUDA_ERROR_ILLEGAL_ADDRESS") == std::string::npos) return __LINE__;
  const auto allocated = device.allocate(16);
  if (allocated || allocated.error().outcome != Outcome::kCrashed) return __LINE__;
  if (allocated.error().reason != ended.error().reason) return __LINE__;
  const auto poisoned = device.poison(data, 16, 0);
  if (poisoned || poisoned.error().outcome != Outcome::kCrashed) return __LINE__;
  const std::vector<TimedCall> rotation{{{out_of_bounds}, {}, {}}};
  const auto times = device.time(rotation, {});
  if (times || times.error().outcome != Outcome::kCrashed) return __LINE__;
  return 0;
}

TEST_F(CudaGpu, FailsEveryCallOnceAKernelHasBrokenTheContext) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own: this one keeps its context
  const DevicePtr data = allocate(1024);
  const PreparedLaunch launch = prepare("out_of_bounds", 1, 32, {arg(data)});
  EXPECT_EXIT(
      {
        const int line = break_context(*device_, launch, data);
        std::fprintf(stderr, "line %d", line);
        _exit(line == 0 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "line 0");
}

}  // namespace
}  // namespace ktune::compile
