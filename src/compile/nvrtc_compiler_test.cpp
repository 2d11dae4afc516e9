#include "compile/nvrtc_compiler.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "compile/scratch_op_test.h"

namespace ktune::compile {
namespace {

model::Result<Compiled> compile(const CompileJob& job) { return compile_with_nvrtc(read_nvrtc_input(job), job); }

class NvrtcCompiler : public ::testing::TestWithParam<const char*> {};

TEST_P(NvrtcCompiler, MakesMachineCodeAndSaysWhatAKernelTakes) {
  const ScratchOp op;
  const auto compiled = compile(op.job(GetParam()));
  ASSERT_TRUE(compiled) << compiled.error().detail;
  EXPECT_EQ(compiled->code.substr(1, 3), "ELF");
  ASSERT_EQ(compiled->resources.size(), 1U);
  const auto& scale = compiled->resources.at("scale");
  EXPECT_GT(scale.registers, 0);
  EXPECT_EQ(scale.shared_bytes, 256);
  EXPECT_EQ(scale.local_bytes, 0);
  EXPECT_EQ(scale.spill_store_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(EveryArchitecture, NvrtcCompiler, ::testing::Values("sm_80", "sm_90", "sm_100", "sm_120"));

TEST(NvrtcCompiler, SaysWhatAKernelTakesHoweverOftenItIsCompiled) {
  const ScratchOp op;
  CompileJob job = op.job();
  for (int round = 0; round < 3; ++round) {  // NVRTC's own cache, if it were on, would leave the log of a hit empty
    job.macros.emplace_back("UNUSED_" + std::to_string(round), "1");
    const auto compiled = compile(job);
    ASSERT_TRUE(compiled) << compiled.error().reason;
    EXPECT_GT(compiled->resources.at("scale").registers, 0);
  }
}

TEST(NvrtcCompiler, ReportsSpills) {
  const ScratchOp op;
  CompileJob job = op.job();
  op.write("op.cu",
           "extern \"C\" __global__ void __launch_bounds__(1024, 2) scale(float* x, int n) {\n  float a[96];\n"
           "#pragma unroll\n  for (int i = 0; i < 96; ++i) a[i] = x[i * n];\n  __syncthreads();\n"
           "#pragma unroll\n  for (int i = 0; i < 96; ++i) x[i * n + 1] = a[i] * a[95 - i] + a[(i * 7) % 96];\n}\n");
  const auto compiled = compile(job);
  ASSERT_TRUE(compiled) << compiled.error().detail;
  EXPECT_LE(compiled->resources.at("scale").registers, 32);
  EXPECT_GT(compiled->resources.at("scale").spill_store_bytes, 0);
  EXPECT_GT(compiled->resources.at("scale").spill_load_bytes, 0);
}

TEST(NvrtcCompiler, SaysTheFirstErrorWithItsLine) {
  const ScratchOp op;
  op.write("op.cu", "extern \"C\" __global__ void scale(float* x) {\n  x[0] = missing;\n}\n");
  const auto compiled = compile(op.job());
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().outcome, model::Outcome::kCompileFailed);
  EXPECT_EQ(compiled.error().reason, "op.cu(2): error: identifier \"missing\" is undefined");
  EXPECT_NE(compiled.error().detail.find("x[0] = missing"), std::string::npos);
}

TEST(NvrtcCompiler, NamesTheKernelThatTheSourceLacks) {
  const ScratchOp op;
  CompileJob job = op.job();
  job.kernels = {"scale", "reduce"};
  const auto compiled = compile(job);
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().reason, "op.cu has no kernel 'reduce'; it has: scale");
}

TEST(NvrtcCompiler, TakesAKernelWithoutExternC) {
  const ScratchOp op;
  op.write("op.cu", "__global__ void scale(float* x) { x[threadIdx.x] *= FACTOR; }\n");
  const auto compiled = compile(op.job());
  ASSERT_TRUE(compiled) << compiled.error().detail;
  EXPECT_GT(compiled->resources.at("scale").registers, 0);
}

TEST(NvrtcCompiler, DefinesTheMacroThatTellsAGpu) {
  const ScratchOp op;
  op.write("op.cu", "#if KTUNE_GPU != 1\n#error not a GPU\n#endif\nextern \"C\" __global__ void scale() {}\n");
  EXPECT_TRUE(compile(op.job()));
}

TEST(NvrtcCompiler, ReadsNoFileThatTheKeyDoesNotCover) {
  const ScratchOp op;
  op.write("op.cu", "#define HIDDEN \"hidden.cuh\"\n#include HIDDEN\nextern \"C\" __global__ void scale() {}\n");
  op.write("hidden.cuh", "");
  const auto compiled = compile(op.job());
  ASSERT_FALSE(compiled);
  EXPECT_NE(compiled.error().reason.find("hidden.cuh"), std::string::npos) << compiled.error().reason;
}

std::string key(const CompileJob& job) { return cache_key(job); }

TEST(CacheKey, IsOf32HexDigitsAndRepeats) {
  const ScratchOp op;
  EXPECT_EQ(key(op.job()).size(), 32U);
  EXPECT_EQ(key(op.job()), key(op.job()));
}

TEST(CacheKey, DoesNotDependOnPaths) {
  const ScratchOp here;
  const ScratchOp there;
  EXPECT_NE(here.job().source_path, there.job().source_path);
  EXPECT_EQ(key(here.job()), key(there.job()));
}

TEST(CacheKey, ChangesWithEverythingACompileDependsOn) {
  const ScratchOp op;
  const std::string original = key(op.job());
  CompileJob job = op.job();
  job.macros[0].second = "4";
  EXPECT_NE(key(job), original);
  job = op.job();
  job.options = {"--use_fast_math"};
  EXPECT_NE(key(job), original);
  EXPECT_NE(key(op.job("sm_80")), original);
  job = op.job();
  job.kernels.emplace_back("other");
  EXPECT_NE(key(job), original);
  op.write("inc/unused.cuh", "// nobody includes this\n");
  EXPECT_EQ(key(op.job()), original);
}

TEST(CacheKey, ChangesWithTheBytesOfTheSourceAndOfAHeader) {
  const ScratchOp op;
  const std::string original = key(op.job());
  op.write("inc/scale.cuh", "#pragma once\n__device__ inline float factor() { return 2.5f; }\n");
  const std::string header_changed = key(op.job());
  EXPECT_NE(header_changed, original);
  op.write("inc/scale.cuh", "#pragma once\n#include \"deep.cuh\"\n__device__ inline float factor() { return 2.5f; }\n");
  op.write("inc/deep.cuh", "// one\n");
  const std::string deep = key(op.job());
  op.write("inc/deep.cuh", "// two, through another header\n");
  EXPECT_NE(key(op.job()), deep);
  op.write("op.cu", "extern \"C\" __global__ void scale() {}\n");
  EXPECT_NE(key(op.job()), header_changed);
}

TEST(CacheKey, OfAMissingSourceIsAUsageError) {
  const ScratchOp op;
  CompileJob job = op.job();
  job.source_path = op.path("nowhere.cu");
  try {
    cache_key(job);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_NE(error.message().find("nowhere.cu"), std::string::npos);
  }
}

TEST(CompilerVersion, NamesTheCompilerOfATargetAndRefusesOtherTargets) {
  EXPECT_EQ(compiler_version("cpu"), compiler_version("cpu-sanitize"));
  EXPECT_NE(compiler_version("cpu"), compiler_version("sm_90"));
  const std::string version = compiler_version("sm_90");
  EXPECT_EQ(version.substr(0, 6), "NVRTC ");
  EXPECT_EQ(compiler_version("fake"), "none");
  EXPECT_THROW(compiler_version("gfx90a"), Error);
}

}  // namespace
}  // namespace ktune::compile
