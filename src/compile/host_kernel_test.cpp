#include "compile/host_kernel_fixture.h"

#include <cmath>
#include <numeric>

namespace ktune::compile {
namespace {

using HostKernel = HostKernelTest;

constexpr const char* kReduction = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class A>
__device__ __forceinline__ A warp_sum(A value) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

inline __device__ __forceinline__ float widen(float x) { return x; }
__device__ __noinline__ double widen(double x) { return x; }
__device__ float widen(__half x) { return __half2float(x); }
__device__ float widen(__nv_bfloat16 x) { return __bfloat162float(x); }

extern "C" __global__ void __launch_bounds__(BLOCK) row_sum(const scalar_t* __restrict__ x, acc_t* __restrict__ out, int n) {
  __shared__ acc_t partial[BLOCK / 32];
  acc_t sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += widen(x[static_cast<long long>(blockIdx.x) * n + i]);
  sum = warp_sum(sum);
  if (threadIdx.x % warpSize == 0) partial[threadIdx.x / warpSize] = sum;
  __syncthreads();
  if (threadIdx.x < warpSize) {
    sum = threadIdx.x < BLOCK / 32 ? partial[threadIdx.x] : acc_t(0);
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}
)";

/// Row r of `rows` holds r + 1 in its first n elements: whole numbers that every dtype sums exactly.
template <class T, class A>
void expect_row_sums(const std::vector<A>& out, int n) {
  for (std::size_t row = 0; row < out.size(); ++row) {
    EXPECT_EQ(out[row], static_cast<A>(static_cast<double>(row % 5 + 1) * n)) << "row " << row;
  }
}

TEST_F(HostKernel, SumsRowsWithShufflesAndSharedMemoryInF32) {
  const auto module = load(kReduction, {"row_sum"}, {{"BLOCK", "128"}, {"scalar_t", "float"}, {"acc_t", "float"}});
  std::vector<float> x;
  for (int row = 0; row < 7; ++row) x.insert(x.end(), 1000, static_cast<float>(row % 5 + 1));
  std::vector<float> out(7, -1.0f);
  const auto status =
      run(module, "row_sum", {pointer_to(x), pointer_to(out), bytes_of<std::int64_t>(1000)}, {7, 128, 0});
  ASSERT_TRUE(status) << status.error().reason;
  expect_row_sums<float>(out, 1000);
}

TEST_F(HostKernel, SumsRowsInF64) {
  const auto module = load(kReduction, {"row_sum"}, {{"BLOCK", "1024"}, {"scalar_t", "double"}, {"acc_t", "double"}});
  std::vector<double> x;
  for (int row = 0; row < 3; ++row) x.insert(x.end(), 1023, row % 5 + 1);
  std::vector<double> out(3, -1.0);
  const auto status = run(module, "row_sum", {pointer_to(x), pointer_to(out), bytes_of(1023)}, {3, 1024, 0});
  ASSERT_TRUE(status) << status.error().reason;
  expect_row_sums<double>(out, 1023);
}

TEST_F(HostKernel, SumsRowsOfHalvesAndBfloats) {
  for (const auto& [type, one] : {std::pair<const char*, std::uint16_t>{"__half", 0x3c00}, {"__nv_bfloat16", 0x3f80}}) {
    const auto module = load(kReduction, {"row_sum"}, {{"BLOCK", "64"}, {"scalar_t", type}, {"acc_t", "float"}});
    std::vector<std::uint16_t> x(2 * 333, one);
    std::vector<float> out(2, -1.0f);
    const auto status = run(module, "row_sum", {pointer_to(x), pointer_to(out), bytes_of(333)}, {2, 64, 0});
    ASSERT_TRUE(status) << status.error().reason;
    EXPECT_EQ(out, (std::vector<float>{333.0f, 333.0f})) << type;
  }
}

TEST_F(HostKernel, GivesEveryThreadItsPlaceInThreeDimensions) {
  const auto module = load(R"(
extern "C" __global__ void k(int* out) {
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * (blockDim.x * blockDim.y * blockDim.z) + thread] = 1000 * block + thread;
})",
                           {"k"});
  std::vector<int> out(24 * 30, -1);
  device::PreparedLaunch launch;
  launch.module = module;
  launch.kernel = "k";
  launch.args = {pointer_to(out)};
  launch.plan.grid = {2, 3, 4};
  launch.plan.block = {5, 3, 2};
  ASSERT_TRUE(device_->launch({launch}));
  for (int block = 0; block < 24; ++block) {
    for (int thread = 0; thread < 30; ++thread) {
      ASSERT_EQ(out[static_cast<std::size_t>(block * 30 + thread)], 1000 * block + thread);
    }
  }
}

TEST_F(HostKernel, ShufflesAsTheHardwareDoes) {
  const auto module = load(R"(
extern "C" __global__ void k(int* out) {
  const int lane = threadIdx.x;
  out[lane] = __shfl_sync(~0u, lane, 5);
  out[32 + lane] = __shfl_sync(~0u, lane, 9, 8);
  out[64 + lane] = __shfl_up_sync(~0u, lane, 3);
  out[96 + lane] = __shfl_up_sync(~0u, lane, 2, 4);
  out[128 + lane] = __shfl_down_sync(~0u, lane, 30);
  out[160 + lane] = __shfl_down_sync(~0u, lane, 1, 16);
  out[192 + lane] = __shfl_xor_sync(~0u, lane, 31);
  out[224 + lane] = __shfl_xor_sync(~0u, lane, 8, 8);
  out[256 + lane] = static_cast<int>(__shfl_sync(~0u, 1.5 * lane, 4));
})",
                           {"k"});
  std::vector<int> out(288, -1);
  const auto status = run(module, "k", {pointer_to(out)});
  ASSERT_TRUE(status) << status.error().reason;
  for (int lane = 0; lane < 32; ++lane) {
    const auto at = [&](int row) { return out[static_cast<std::size_t>(32 * row + lane)]; };
    EXPECT_EQ(at(0), 5);
    EXPECT_EQ(at(1), lane / 8 * 8 + 1);             // index 9 of a segment of 8 is its lane 1
    EXPECT_EQ(at(2), lane >= 3 ? lane - 3 : lane);  // the first lanes keep their own
    EXPECT_EQ(at(3), lane % 4 >= 2 ? lane - 2 : lane);
    EXPECT_EQ(at(4), lane < 2 ? lane + 30 : lane);
    EXPECT_EQ(at(5), lane % 16 == 15 ? lane : lane + 1);
    EXPECT_EQ(at(6), 31 - lane);
    EXPECT_EQ(at(7), (lane ^ 8) <= (lane | 7) ? lane ^ 8 : lane);  // an earlier segment can be read, a later one not
    EXPECT_EQ(at(8), 6);
  }
}

TEST_F(HostKernel, VotesMatchesAndReducesOverAMask) {
  const auto module = load(R"(
extern "C" __global__ void k(unsigned* out) {
  const int lane = threadIdx.x % 32;
  out[0 + threadIdx.x] = __ballot_sync(~0u, lane % 3 == 0);
  out[64 + threadIdx.x] = __any_sync(~0u, lane == 40) * 2 + __all_sync(~0u, lane < 32);
  if (lane < 16) {
    out[128 + threadIdx.x] = __ballot_sync(0x0000ffffu, lane & 1);
    out[192 + threadIdx.x] = __activemask();
  } else {
    out[128 + threadIdx.x] = __ballot_sync(0xffff0000u, 1);
    out[192 + threadIdx.x] = __activemask();
  }
  out[256 + threadIdx.x] = __match_any_sync(~0u, lane / 8);
  out[320 + threadIdx.x] = __reduce_add_sync(~0u, static_cast<unsigned>(lane));
  out[384 + threadIdx.x] = static_cast<unsigned>(__reduce_min_sync(~0u, 5 - lane));
  out[448 + threadIdx.x] = __syncthreads_count(threadIdx.x < 50) + 100 * __syncthreads_and(1) + 1000 * __syncthreads_or(threadIdx.x == 63);
})",
                           {"k"});
  std::vector<unsigned> out(512, 7);
  const auto status = run(module, "k", {pointer_to(out)}, {1, 64, 0});
  ASSERT_TRUE(status) << status.error().reason;
  unsigned thirds = 0;
  for (unsigned lane = 0; lane < 32; lane += 3) thirds |= 1u << lane;
  for (std::size_t t = 0; t < 64; ++t) {
    const auto lane = static_cast<unsigned>(t % 32);
    EXPECT_EQ(out[t], thirds);
    EXPECT_EQ(out[64 + t], 1u);
    EXPECT_EQ(out[128 + t], lane < 16 ? 0x0000aaaau : 0xffff0000u);
    EXPECT_EQ(out[192 + t], lane < 16 ? 0x0000ffffu : 0xffff0000u);
    EXPECT_EQ(out[256 + t], 0xffu << (lane / 8 * 8));
    EXPECT_EQ(out[320 + t], 496u);
    EXPECT_EQ(static_cast<int>(out[384 + t]), -26);
    EXPECT_EQ(out[448 + t], 1150u);
  }
}

TEST_F(HostKernel, GivesDynamicSharedMemoryInEveryWayItIsDeclared) {
  const auto module = load(R"(
extern __shared__ __align__(16) unsigned char outside[];
namespace deeper {
template <class T> __device__ T* raw() { extern __shared__ alignas(16) unsigned char smem[]; return reinterpret_cast<T*>(smem); }
}
extern "C" {
__global__ void k(float* out) {
  extern __shared__ float rows[][8];  // a comment; with a semicolon
  rows[threadIdx.x / 8][threadIdx.x % 8] = static_cast<float>(threadIdx.x);
  __syncthreads();
  const float* flat = deeper::raw<float>();
  out[threadIdx.x] = flat[31 - threadIdx.x] + 100.0f * reinterpret_cast<float*>(outside)[threadIdx.x];
}
})",
                           {"k"});
  std::vector<float> out(32, -1.0f);
  const auto status = run(module, "k", {pointer_to(out)}, {1, 32, 128});
  ASSERT_TRUE(status) << status.error().reason;
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], static_cast<float>(31 - i + 100 * i));
}

TEST_F(HostKernel, KeepsTwoVariantsWithSharedArraysOfDifferentSizesApart) {
  constexpr const char* kText = R"(
template <int N>
__device__ float* buffer() { __shared__ float data[SIZE]; return data; }
extern "C" __global__ void k(float* out) {
  float* data = buffer<1>();
  for (int i = threadIdx.x; i < SIZE; i += blockDim.x) data[i] = static_cast<float>(i);
  __syncthreads();
  float sum = 0.0f;
  for (int i = 0; i < SIZE; ++i) sum += data[i];
  out[threadIdx.x] = sum;
})";
  const auto small = load(kText, {"k"}, {{"SIZE", "32"}});
  const auto large = load(kText, {"k"}, {{"SIZE", "2048"}});
  for (int round = 0; round < 2; ++round) {
    std::vector<float> out(32, 0.0f);
    ASSERT_TRUE(run(small, "k", {pointer_to(out)}));
    EXPECT_EQ(out[7], 496.0f);
    ASSERT_TRUE(run(large, "k", {pointer_to(out)}));
    EXPECT_EQ(out[7], 2047.0f * 1024.0f);
  }
}

TEST_F(HostKernel, StartsSharedMemoryAsNaN) {
  const auto module = load(R"(
extern "C" __global__ void k(float* out) {
  __shared__ float fixed[32];
  extern __shared__ float dynamic[];
  out[threadIdx.x] = fixed[threadIdx.x];
  out[32 + threadIdx.x] = dynamic[threadIdx.x];
  __syncthreads();
  fixed[threadIdx.x] = dynamic[threadIdx.x] = 1.0f;  // the next block must not see it
})",
                           {"k"});
  std::vector<float> out(64, 0.0f);
  ASSERT_TRUE(run(module, "k", {pointer_to(out)}, {50, 32, 128}));
  for (const float value : out) EXPECT_TRUE(std::isnan(value));
}

TEST_F(HostKernel, RunsKernelsNamedAsLibcsFunctions) {
  const auto module = load(R"(
extern "C" __global__ void read(const int* x, int* out) { out[threadIdx.x] = x[threadIdx.x] + 1; }
extern "C" __global__ void write(int* out, int value) { out[threadIdx.x] = value; }
extern "C" __global__ void copy(const int* x, int* out) { out[threadIdx.x] = x[threadIdx.x]; }
)",
                           {"read", "write", "copy"});
  std::vector<int> x(32, 5);
  std::vector<int> out(32, 0);
  ASSERT_TRUE(run(module, "read", {pointer_to(x), pointer_to(out)}));
  EXPECT_EQ(out[31], 6);
  ASSERT_TRUE(run(module, "write", {pointer_to(out), bytes_of(9)}));
  EXPECT_EQ(out[31], 9);
  ASSERT_TRUE(run(module, "copy", {pointer_to(x), pointer_to(out)}));
  EXPECT_EQ(out[31], 5);
}

TEST_F(HostKernel, AddsAtomicallyFromManyBlocks) {
  const auto module = load(R"(
__device__ int ticket;
extern "C" __global__ void k(int* whole, float* real, double* wide, unsigned long long* seen) {
  atomicAdd(whole, 1);
  atomicAdd(real, 0.5f);
  atomicAdd(wide, 0.25);
  atomicMax(seen, static_cast<unsigned long long>(blockIdx.x * blockDim.x + threadIdx.x));
  atomicCAS(&ticket, 0, 1);
})",
                           {"k"});
  std::vector<int> whole(1, 0);
  std::vector<float> real(1, 0.0f);
  std::vector<double> wide(1, 0.0);
  std::vector<unsigned long long> seen(1, 0);
  ASSERT_TRUE(
      run(module, "k", {pointer_to(whole), pointer_to(real), pointer_to(wide), pointer_to(seen)}, {200, 64, 0}));
  EXPECT_EQ(whole[0], 12800);
  EXPECT_EQ(real[0], 6400.0f);
  EXPECT_EQ(wide[0], 3200.0);
  EXPECT_EQ(seen[0], 12799u);
}

TEST_F(HostKernel, KnowsTheFunctionsAndTypesThatKernelsUse) {
  const auto module = load(R"(
#include <cuda_fp16.h>
extern "C" __global__ void k(float* out, const uint4* words) {
  const uint4 w = __ldg(words);
  out[0] = rsqrtf(4.0f) + __fmaf_rn(2.0f, 3.0f, 1.0f);
  out[1] = __int_as_float(0x3f800000) + static_cast<float>(__float_as_int(2.0f) >> 23);
  out[2] = __half2float(__hfma(__float2half(2.0f), __float2half(3.0f), __float2half(0.5f)));
  out[3] = static_cast<float>(w.x + w.w);
  float4 v = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
  __stcs(reinterpret_cast<float4*>(out + 4), v);
  out[8] = static_cast<float>(max(3, 7u) + min(2ll, 5));
  out[9] = static_cast<float>(__popc(0xf0f0u) + __clz(1) + __ffs(8));
  out[10] = __low2float(__hadd2(__floats2half2_rn(1.0f, 2.0f), __floats2half2_rn(0.25f, 1.0f)));
  out[11] = static_cast<float>(__byte_perm(0x44332211u, 0x88776655u, 0x0005u) & 0xffu);
})",
                           {"k"});
  alignas(16) static unsigned words[4] = {10, 0, 0, 32};
  alignas(16) static float out[12];
  ASSERT_TRUE(run(module, "k", {bytes_of(&out[0]), bytes_of(&words[0])}, {1, 1, 0}));
  const float expected[12] = {7.5f, 129.0f, 6.5f, 42.0f, 1.0f, 2.0f, 3.0f, 4.0f, 9.0f, 43.0f, 1.25f, 102.0f};
  for (int i = 0; i < 12; ++i) EXPECT_EQ(out[i], expected[i]) << i;
}

TEST_F(HostKernel, FindsHeadersBesideTheSourceAndInTheOpsFolders) {
  std::filesystem::create_directories(dir_ / "lib");
  write_file(dir_ / "beside.cuh",
             "#pragma once\n#include \"below.cuh\"\n__device__ int beside() { return below() + 1; }\n");
  write_file(dir_ / "lib" / "below.cuh",
             "#pragma once\n__device__ int below() { extern __shared__ int s[]; return s[0]; }\n");
  CompileJob job = job_of(R"(
#include <below.cuh>
#include "beside.cuh"
extern "C" __global__ void k(int* out) {
  extern __shared__ int s[];
  s[0] = 41;
  out[0] = beside();
})",
                          {"k"});
  job.include_dirs = {(dir_ / "lib").string()};
  const auto binary = compile(job);
  ASSERT_TRUE(binary) << binary.error().detail;
  std::vector<int> out(1, 0);
  ASSERT_TRUE(run(*device_->load(*binary), "k", {pointer_to(out)}, {1, 1, 4}));
  EXPECT_EQ(out[0], 42);
}

}  // namespace
}  // namespace ktune::compile
