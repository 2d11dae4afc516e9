#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "base/process.h"
#include "compile/host_kernel_fixture.h"

// Kernels built with sanitizers, in a process started as a worker is: this test binary again, with the environment the
// device asks for. The child compiles and runs the kernel named in KTUNE_TEST_SANITIZED and prints its first result.

namespace ktune::compile {
namespace {

struct SanitizedKernel {
  const char* name;
  const char* text;
  std::int64_t block;
  std::int64_t smem;
  const char* report;  ///< what the child's stderr must hold; null: it must end well
};

constexpr SanitizedKernel kKernels[] = {
    {"good", R"(template <class T> __device__ T warp_sum(T v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(~0u, v, offset);
  return v;
}
extern "C" __global__ void k(float* x, int n) {
  __shared__ float partial[8];
  extern __shared__ float tile[];
  tile[threadIdx.x] = threadIdx.x < n ? x[threadIdx.x] : 0.f;
  float sum = warp_sum(tile[threadIdx.x]);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0.f;
  for (int i = 0; i < blockDim.x / 32; ++i) sum += partial[i];
  if (threadIdx.x == 0) x[0] = sum;
})",
     256, 1024, nullptr},
    {"overrun", R"(extern "C" __global__ void k(float* x, int n) {
  int i = threadIdx.x;
  x[i] = 1.f;
})",
     128, 0, "test.cu:3"},
    {"underrun", R"(extern "C" __global__ void k(float* x, int n) {
  x[0] = x[-1];
})",
     1, 0, "test.cu:2"},
    {"behind an intrinsic", R"(extern "C" __global__ void k(float* x, int n) {
  x[0] =
      __ldg(x + 100);
})",
     1, 0, "test.cu:3"},
    {"shared array", R"(extern "C" __global__ void k(float* x, int n) {
  __shared__ float tile[16];
  float* p = tile;
  p[threadIdx.x] = 1.f;
  __syncthreads();
  x[0] = p[0];
})",
     32, 0, "test.cu:4"},
    {"dynamic shared memory", R"(extern "C" __global__ void k(float* x, int n) {
  extern __shared__ float tile[];

  tile[threadIdx.x] = 1.f;
  x[0] = tile[0];
})",
     32, 124, "test.cu:4"},
    {"local array", R"(extern "C" __global__ void k(float* x, int n) {
  float local[4] = {1.f, 2.f, 3.f, 4.f};
  float* p = local;
  x[0] = p[n];
})",
     1, 0, "test.cu:4"},
    {"misaligned", R"(extern "C" __global__ void k(float* x, int n) {
  x[0] = reinterpret_cast<float4*>(x + 1)->x;
})",
     1, 0, "test.cu:2"},
    {"overflow", R"(extern "C" __global__ void k(float* x, int n) {
  x[0] = static_cast<float>(n * 100000000);
})",
     1, 0, "test.cu:2"},
    {"null", R"(extern "C" __global__ void k(float* x, int n) {
  *(volatile float*)nullptr = 1.f;
})",
     1, 0, "test.cu:2"},
};

/// The 100 floats that every kernel gets; x[100] is the first byte beyond.
constexpr int kFloats = 100;

class SanitizedChild : public HostKernelTest {
 public:
  explicit SanitizedChild(const SanitizedKernel& kernel) : kernel_(kernel) { device_ = device::open_cpu_device(true); }

  void TestBody() override {
    const device::ModuleId module = load(kernel_.text, {"k"});
    const auto memory = device_->allocate(kFloats * 4);
    ASSERT_TRUE(memory);
    const std::vector<float> ones(kFloats, 1.0f);
    ASSERT_TRUE(device_->write(*memory, ones.data(), kFloats * 4));
    for (int round = 0; round < 3; ++round) {
      const auto status = run(module, "k", {bytes_of(*memory), bytes_of(kFloats)}, {1, kernel_.block, kernel_.smem});
      ASSERT_TRUE(status) << status.error().reason;
    }
    float first = 0.0f;
    ASSERT_TRUE(device_->read(&first, *memory, 4));
    printf("first %g\n", static_cast<double>(first));
  }

 private:
  const SanitizedKernel& kernel_;
};

/// Only in a child is there this test.
const bool kRegistered = [] {
  const char* name = std::getenv("KTUNE_TEST_SANITIZED");
  for (const SanitizedKernel& kernel : kKernels) {
    if (name == nullptr || std::string(name) != kernel.name) continue;
    testing::RegisterTest("SanitizedChild", "RunsWhatItIsTold", nullptr, nullptr, __FILE__, __LINE__,
                          [&kernel]() -> HostKernelTest* { return new SanitizedChild(kernel); });
  }
  return name != nullptr;
}();

CommandResult run_child(const std::string& kernel) {
  std::vector<std::pair<std::string, std::string>> environment = device::sanitizer_environment();
  environment.emplace_back("KTUNE_TEST_SANITIZED", kernel);
  return run_command({executable_path().string(), "--gtest_filter=SanitizedChild.*"}, 100.0, environment);
}

class Sanitized : public testing::TestWithParam<SanitizedKernel> {};

TEST_P(Sanitized, ReportsTheKernelsLine) {
  const CommandResult child = run_child(GetParam().name);
  ASSERT_FALSE(child.timed_out);
  EXPECT_NE(child.out.find("Running 1 test"), std::string::npos) << child.out;
  if (GetParam().report == nullptr) {
    EXPECT_EQ(child.status.code, 0) << child.out << child.err;
    // 100 ones; the sum replaces the first: 100, 199, 298.
    EXPECT_NE(child.out.find("first 298\n"), std::string::npos) << child.out;
    EXPECT_EQ(child.err.find("Sanitizer"), std::string::npos) << child.err;
  } else {
    EXPECT_NE(child.status.code, 0) << child.out << child.err;
    EXPECT_NE(child.err.find(GetParam().report), std::string::npos) << child.err;
    EXPECT_TRUE(child.err.find("AddressSanitizer") != std::string::npos ||
                child.err.find("runtime error") != std::string::npos)
        << child.err;
  }
}

INSTANTIATE_TEST_SUITE_P(, Sanitized, testing::ValuesIn(kKernels),
                         [](const testing::TestParamInfo<SanitizedKernel>& tested) {
                           std::string name;
                           for (const char* c = tested.param.name; *c != '\0'; ++c) name += *c == ' ' ? '_' : *c;
                           return name;
                         });

#ifndef __SANITIZE_ADDRESS__
TEST(SanitizedDevice, IsRefusedInAProcessStartedWithoutTheLibrary) {
  EXPECT_THROW(device::open_cpu_device(true), Error);
}
#endif

}  // namespace
}  // namespace ktune::compile
