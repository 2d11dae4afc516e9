#include "device/cuda/counters_host.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <filesystem>
#include <string>

#include "device/cuda/cupti_library.h"

namespace ktune::device::cuda {
namespace {

/// Why the profiler's host library cannot be opened here; empty: it can.
std::string no_counters() {
#ifdef __SANITIZE_ADDRESS__
  return "the profiler opens its library with RTLD_DEEPBIND, which ends a process with sanitizers";
#else
  std::string problem;
  return open_cupti(problem) != nullptr ? "" : "no CUPTI: " + problem;
#endif
}

TEST(CounterHost, BytesOfDramNeedOnePass) {
  if (const std::string why = no_counters(); !why.empty()) GTEST_SKIP() << why;
  for (const char* chip : {"GA100", "AD102", "GH100", "GB100"}) {
    const auto host = CounterHost::open(chip, {});
    ASSERT_TRUE(host) << chip << ": " << host.error().reason;
    EXPECT_STREQ(host->metrics()[0], "dram__bytes_read.sum") << chip;
    EXPECT_STREQ(host->metrics()[1], "dram__bytes_write.sum") << chip;
    EXPECT_EQ(host->passes(), 1U) << chip;
    EXPECT_GT(host->config().size(), 0U) << chip;
  }
}

std::filesystem::path folder_of(void* library) {
  link_map* map = nullptr;
  if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return {};
  return std::filesystem::weakly_canonical(map->l_name).parent_path();
}

TEST(CounterHost, TakesWhatCuptiOpensByNameFromBesideIt) {
  if (const std::string why = no_counters(); !why.empty()) GTEST_SKIP() << why;
  std::string problem;
  void* cupti = open_cupti(problem);
  const auto host = CounterHost::open("GH100", {});
  ASSERT_TRUE(host) << host.error().reason;
  EXPECT_EQ(folder_of(dlopen("libnvperf_host.so", RTLD_NOW | RTLD_NOLOAD)), folder_of(cupti));
}

TEST(CounterHost, TakesTheNextNamesWhereAChipHasOthers) {
  if (const std::string why = no_counters(); !why.empty()) GTEST_SKIP() << why;
  const auto host = CounterHost::open("GB202", {});
  ASSERT_TRUE(host) << host.error().reason;
  EXPECT_STREQ(host->metrics()[0], "fbpa__dram_read_bytes.sum");
  EXPECT_EQ(host->passes(), 1U);
}

TEST(CounterHost, SaysWhenAChipCountsNoBytesOrIsUnknown) {
  if (const std::string why = no_counters(); !why.empty()) GTEST_SKIP() << why;
  const auto without = CounterHost::open("GB20B", {});
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().reason, "chip GB20B has no counter of DRAM bytes");
  const auto unknown = CounterHost::open("ZZ999", {});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().outcome, model::Outcome::kRejected);
}

TEST(CounterHost, EveryForbiddingErrorHasCauseAndRemedy) {
  const auto privileges = counters_failure(35, "cuptiRangeProfilerEnable");
  EXPECT_EQ(privileges.outcome, model::Outcome::kRejected);
  EXPECT_EQ(privileges.reason,
            "hardware counters are for administrators only (ERR_NVGPUCTRPERM) (error 35 of cuptiRangeProfilerEnable)");
  EXPECT_NE(privileges.detail.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);
  EXPECT_NE(counters_failure(26, "x").detail.find("dcgmi profiling --pause"), std::string::npos);
  EXPECT_NE(counters_failure(43, "x").reason.find("MIG"), std::string::npos);
  for (const int result : {26, 33, 35, 39, 40, 41, 42, 43, 44, 45, 46}) {
    EXPECT_FALSE(counters_failure(result, "x").detail.empty()) << result;
  }
  EXPECT_EQ(counters_failure(999, "cuptiRangeProfilerStart").reason,
            "cuptiRangeProfilerStart fails with CUPTI's error 999");
}

TEST(CuptiLibrary, TellsMajorVersionsApart) {
  EXPECT_EQ(cupti_major(130001), 13);
  EXPECT_EQ(cupti_major(140002), 14);
  EXPECT_EQ(cupti_major(26), 12);
}

}  // namespace
}  // namespace ktune::device::cuda
