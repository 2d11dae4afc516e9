#include "device/cuda/cupti.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ktune::device::cuda {
namespace {

TEST(Cupti, SaysThatAProfilerHasIt) {
  EXPECT_EQ(subscribe_problem(39),
            "another tool in this process has CUPTI (error 39): run without nsys, ncu or another profiler");
  EXPECT_EQ(subscribe_problem(999), "CUPTI does not start: error 999");
}

TEST(Cupti, StandsBackUnderAnInjectedProfiler) {
  setenv("CUDA_INJECTION64_PATH", "/opt/some/profiler.so", 1);
  Cupti cupti;
  unsetenv("CUDA_INJECTION64_PATH");
  EXPECT_EQ(cupti.problem(), "a profiler is attached (CUDA_INJECTION64_PATH is set)");
  EXPECT_EQ(cupti.start(), cupti.problem());
  EXPECT_EQ(cupti.version(), "");
}

}  // namespace
}  // namespace ktune::device::cuda
