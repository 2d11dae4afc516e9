#include "compile/nvrtc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "device/cuda_folders.h"

namespace ktune::compile {
namespace {

TEST(Nvrtc, IsLoadedAndOfAVersionThatKtuneTakes) {
  const NvrtcVersion version = nvrtc_version();
  EXPECT_GE(version.major * 100 + version.minor, 1208);
  EXPECT_LT(version.major, 14);
  EXPECT_EQ(version.text(), "NVRTC " + std::to_string(version.major) + "." + std::to_string(version.minor));
  EXPECT_TRUE(std::filesystem::exists(version.path));
  EXPECT_FALSE(version.build.empty());
}

TEST(Nvrtc, CompilesFromMemoryAndFindsOnlyTheHeadersGiven) {
  NvrtcProgram program{"a.cu", "#include \"b.h\"\nextern \"C\" __global__ void k(int* x) { *x = B; }\n", {}, {}};
  program.options = nvrtc_options("sm_90");
  NvrtcOutput output = run_nvrtc(program);
  EXPECT_FALSE(output.ok);
  EXPECT_EQ(output.error, "NVRTC_ERROR_COMPILATION");
  EXPECT_NE(output.log.find("b.h"), std::string::npos);
  program.headers.emplace_back("b.h", "#define B 7\n");
  output = run_nvrtc(program);
  ASSERT_TRUE(output.ok) << output.log;
  EXPECT_EQ(output.code.substr(1, 3), "ELF");
  EXPECT_NE(output.log.find("Compiling entry function 'k' for 'sm_90'"), std::string::npos);
}

TEST(Nvrtc, SaysThatItDoesNotKnowAnArchitecture) {
  NvrtcProgram program{"a.cu", "extern \"C\" __global__ void k() {}\n", {}, nvrtc_options("sm_999")};
  const NvrtcOutput output = run_nvrtc(program);
  EXPECT_FALSE(output.ok);
  EXPECT_EQ(output.error, "NVRTC_ERROR_INVALID_OPTION");
}

TEST(CudaFolders, BeginWithCudaHome) {
  const char* set = std::getenv("CUDA_HOME");
  const std::string before = set == nullptr ? "" : set;
  setenv("CUDA_HOME", "/opt/cuda-x", 1);
  const auto dirs = device::cuda_library_dirs();
  if (before.empty()) {
    unsetenv("CUDA_HOME");
  } else {
    setenv("CUDA_HOME", before.c_str(), 1);
  }
  ASSERT_GE(dirs.size(), 4U);
  EXPECT_EQ(dirs[0], "/opt/cuda-x/lib64");
  EXPECT_EQ(dirs[1], "/opt/cuda-x/lib");
  EXPECT_NE(std::find(dirs.begin(), dirs.end(), std::filesystem::path(KTUNE_CUDA_HOME) / "lib"), dirs.end());
  EXPECT_TRUE(std::filesystem::exists(cuda_include_dir() / "cuda_fp16.h"));
}

}  // namespace
}  // namespace ktune::compile
