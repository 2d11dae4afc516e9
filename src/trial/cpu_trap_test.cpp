#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/files.h"
#include "base/text.h"
#include "compile/compile.h"
#include "trial/run_trial_for_test.h"
#include "trial/test_plans.h"
#include "trial/worker.h"

// Kernels that must not fool a tuner, compiled for the host and run in a real worker: each kind of fault fails exactly
// the variant that has it, with a reason that says what it did.

namespace ktune::trial {
namespace {

using model::Outcome;

constexpr std::int64_t kN = 1000;

/// FAULT chooses what is wrong; 0 is right. Line 1 is the first of the raw string.
constexpr const char* kSource = R"(extern "C" __global__ void trap_reference(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] > 0.f ? x[i] : -1.f;
}
extern "C" __global__ void trap(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (FAULT == 1 || (FAULT == 4 && i < n / 2) || (FAULT == 5 && i >= n / 2)) return;
  if (FAULT == 9) while (*(volatile const float*)x < 1e30f) {}
  if (FAULT == 8) *(volatile float*)0x1000 = 1.f;
  if (i >= n && FAULT != 6) return;
  float right = i >= n ? 0.f : x[i] > 0.f ? x[i] : -1.f;
  if (FAULT == 2) right = __int_as_float(0x7fffffff);
  if (FAULT == 3 && right == -1.f) right = 100.f;
  out[i] = right;
  if (FAULT == 7 && i == 3) ((float*)x)[i] = 2.f;
}
)";

class CpuTrap : public testing::Test {
 protected:
  CpuTrap() {
    // Kept from test to test and run to run: the precompiled header alone takes seconds.
    folder_ = std::filesystem::path(testing::TempDir()) / "ktune_cpu_trap_test";
    std::filesystem::create_directories(folder_);
    setenv("KTUNE_CACHE_DIR", folder_.c_str(), 1);
    write_file(folder_ / "trap.cu", kSource);
  }
  ~CpuTrap() override { unsetenv("KTUNE_CACHE_DIR"); }

  model::KernelBinary compile(int fault, const std::string& target, const std::string& kernel) {
    compile::CompileJob job;
    job.source_path = (folder_ / "trap.cu").string();
    job.macros = {{"FAULT", std::to_string(fault)}};
    job.target = target;
    job.kernels = {kernel};
    const auto binary = compile::compile_one(job, folder_.string());
    EXPECT_TRUE(binary.has_value()) << binary.error().reason << binary.error().detail;
    return binary.value_or(model::KernelBinary{});
  }
  void open(const std::string& device) {
    target_ = device;
    worker_.emplace(device, 5.0);
    const auto set = worker_->set_problem(vector_problem("trap", kN), compile(0, target_, "trap_reference"));
    ASSERT_TRUE(set.has_value()) << set.error().reason << set.error().detail;
  }
  model::TrialRecord run(int fault, std::int64_t smem_bytes = 0) {
    model::VariantPlan plan = vector_variant("trap", "FAULT=" + std::to_string(fault), kN);
    plan.launches[0].smem_bytes = smem_bytes;
    measure::Request request;
    request.samples = 3;
    model::TrialRecord record;
    run_trial(*worker_, fault, plan, compile(fault, target_, "trap"), request, record);
    return record;
  }
  std::string text(int fault) {
    const model::TrialRecord record = run(fault);
    return std::string(model::name_of(record.outcome)) + ": " + record.reason;
  }

  std::filesystem::path folder_;
  std::string target_;
  std::optional<Worker> worker_;
};

TEST_F(CpuTrap, SilentFaultsAreWrongResultsAndCostNoWorker) {
  open("cpu");
  EXPECT_EQ(text(0), "Measured: ");
  EXPECT_EQ(text(1), "WrongResult: out: 1000 of 1000 elements never written, first at [0]");
  EXPECT_TRUE(text(2).starts_with("WrongResult: out: 1000 of 1000 elements differ, first at [0]: nan, expected "));
  const std::string wrong = text(3);
  EXPECT_TRUE(wrong.starts_with("WrongResult: out: ")) << wrong;
  EXPECT_NE(wrong.find(": 100, expected -1 (at worst "), std::string::npos) << wrong;
  EXPECT_EQ(text(4), "WrongResult: out: 500 of 1000 elements never written, first at [0]");
  EXPECT_EQ(text(5), "WrongResult: out: 500 of 1000 elements never written, first at [500]");
  EXPECT_EQ(text(4), "WrongResult: out: 500 of 1000 elements never written, first at [0]");
  EXPECT_EQ(text(6), "WrongResult: wrote outside out: byte 0 past its end");
  EXPECT_EQ(text(7), "WrongResult: changed its input x");
  EXPECT_EQ(text(0), "Measured: ");
  EXPECT_EQ(worker_->restarts(), 0);
}

TEST_F(CpuTrap, ACrashAndAHangCostOneTrialEach) {
  open("cpu");
  const model::TrialRecord crashed = run(8);
  EXPECT_EQ(crashed.outcome, Outcome::kCrashed);
  EXPECT_NE(crashed.reason.find("SEGV"), std::string::npos) << crashed.reason;  // a sanitizer's report spells it so
  EXPECT_EQ(text(0), "Measured: ");
  const double start = now_s();
  EXPECT_EQ(text(9), "TimedOut: no answer within 5 s (verify)");
  EXPECT_LT(now_s() - start, 15.0);
  EXPECT_EQ(text(0), "Measured: ");
  EXPECT_EQ(worker_->restarts(), 2);
}

TEST_F(CpuTrap, TooMuchSharedMemoryIsRejectedUnlaunched) {
  open("cpu");
  const model::TrialRecord record = run(0, 300 * 1024);
  EXPECT_EQ(record.outcome, Outcome::kRejected);
  EXPECT_NE(record.reason.find("300"), std::string::npos) << record.reason;
}

TEST_F(CpuTrap, ASanitizerNamesTheKernelsLine) {
  open("cpu-sanitize");
  EXPECT_EQ(text(0), "Measured: ");
  const model::TrialRecord overrun = run(6);
  EXPECT_EQ(overrun.outcome, Outcome::kCrashed);
  EXPECT_EQ(overrun.reason, "AddressSanitizer: heap-buffer-overflow at trap.cu:14");
  EXPECT_NE(overrun.detail.find("trap.cu:14"), std::string::npos);
  EXPECT_EQ(text(8), "Crashed: AddressSanitizer: SEGV at trap.cu:9");
  EXPECT_EQ(text(0), "Measured: ");
}

}  // namespace
}  // namespace ktune::trial
