#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "compile/builtin_code.h"
#include "compile/nvrtc.h"
#include "device/cuda/cuda_device.h"
#include "device/device.h"

// For the tests that need a GPU, and a compiler for its kernels: skipped, with the reason, where there is none.

namespace ktune::compile {

using namespace ktune::device;  // NOLINT(google-build-using-namespace): the tests are of a device

inline constexpr const char* kKernels = R"(
extern "C" __global__ void nothing() {}
extern "C" __global__ void add(const float* x, float* y, int n, float by) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] + by;
}
extern "C" __global__ void copy(const uint4* x, uint4* y, long long n) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
    y[i] = x[i];
}
extern "C" __global__ void read(const uint4* x, unsigned* sink, long long n) {
  unsigned s = 0;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
    s ^= x[i].x ^ x[i].y ^ x[i].z ^ x[i].w;
  if (s == 0x12345u) *sink = s;
}
extern "C" __global__ void spin(unsigned long long ns) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); while (now - start < ns);
}
extern "C" __global__ void dynamic_shared(unsigned* y, int words) {
  extern __shared__ unsigned s[];
  for (int i = threadIdx.x; i < words; i += blockDim.x) s[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = s[words - 1];
}
extern "C" __global__ void cluster_rank(unsigned* y) {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) y[blockIdx.x] = rank;
}
__global__ void mangled(int* y) { *y = 42; }
extern "C" __global__ void out_of_bounds(float* x) { x[1LL << 40] = 1.0f; }
)";

inline std::vector<std::byte> bytes_of(const void* value, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data(), value, size);
  return bytes;
}
template <typename T>
std::vector<std::byte> arg(T value) {
  return bytes_of(&value, sizeof value);
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class CudaGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string problem;
    if (count_cuda_devices(problem) == 0) GTEST_SKIP() << "no GPU: " << problem;
    device_ = compile::open_device("cuda:0");
    NvrtcProgram program{"test.cu", kKernels, {}, nvrtc_options(device_->facts().target)};
    const NvrtcOutput output = run_nvrtc(program);
    ASSERT_TRUE(output.ok) << output.log;
    path_ = std::filesystem::temp_directory_path() / ("ktune-gpu-test-" + std::to_string(getpid()) + ".cubin");
    std::ofstream(path_, std::ios::binary) << output.code;
    model::KernelBinary binary;
    binary.path = path_.string();
    binary.target = device_->facts().target;
    const auto module = device_->load(binary);
    ASSERT_TRUE(module) << module.error().reason;
    module_ = *module;
  }
  void TearDown() override {
    device_.reset();
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove(path_, error);
  }

  DevicePtr allocate(std::int64_t bytes) {
    const auto pointer = device_->allocate(bytes);
    EXPECT_TRUE(pointer) << pointer.error().reason;
    return pointer.value_or(0);
  }
  PreparedLaunch prepare(const std::string& kernel, std::int64_t grid, std::int64_t block,
                         std::vector<std::vector<std::byte>> args) const {
    PreparedLaunch launch;
    launch.module = module_;
    launch.kernel = kernel;
    launch.args = std::move(args);
    launch.plan.kernel = kernel;
    launch.plan.grid = {grid, 1, 1};
    launch.plan.block = {block, 1, 1};
    return launch;
  }
  static TimedCall call_of(PreparedLaunch launch) { return {{std::move(launch)}, {}, {}}; }
  PreparedLaunch copy_launch(DevicePtr from, DevicePtr to, std::int64_t bytes) const {
    return prepare("copy", 16L * device_->facts().sm_count, 256, {arg(from), arg(to), arg(bytes / 16)});
  }
  std::vector<double> time(const std::vector<TimedCall>& rotation, int samples, model::CacheState state,
                           model::Timer timer = model::Timer::kEvents) {
    TimingRequest request;
    request.samples = samples;
    request.cache_state = state;
    request.timer = timer;
    const auto timed = device_->time(rotation, request);
    EXPECT_TRUE(timed) << (timed ? "" : timed.error().reason);
    if (!timed) return std::vector<double>(static_cast<std::size_t>(samples), NAN);
    EXPECT_EQ(timed->time_us.size(), static_cast<std::size_t>(samples));
    return timed->time_us;
  }
  std::vector<std::uint8_t> fetch(DevicePtr from, std::int64_t bytes) {
    std::vector<std::uint8_t> host(static_cast<std::size_t>(bytes));
    const auto status = device_->read(host.data(), from, bytes);
    EXPECT_TRUE(status) << status.error().reason;
    return host;
  }
  static void note(const char* what, double value, const char* unit) {
    RecordProperty(what, std::to_string(value));
    std::fprintf(stdout, "  %s: %.3f %s\n", what, value, unit);
  }

  std::unique_ptr<Device> device_;
  std::filesystem::path path_;
  ModuleId module_ = -1;
};

inline model::TensorPlan plan_of(model::DType dtype, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
                                 std::int64_t offset, std::int64_t storage, model::InitKind kind) {
  model::TensorPlan plan;
  plan.name = "x";
  plan.dtype = dtype;
  plan.shape = std::move(shape);
  plan.strides = std::move(strides);
  plan.offset = offset;
  plan.storage = storage;
  plan.init.kind = kind;
  return plan;
}

}  // namespace ktune::compile
