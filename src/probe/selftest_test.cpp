#include "probe/selftest.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "compile/builtin_code.h"
#include "probe/counters.h"
#include "probe/eviction_proof.h"

namespace ktune::probe {
namespace {

using Grade = SelfTestRow::Grade;

class SelfTest : public testing::Test {
 protected:
  SelfTest()
      : path_(std::filesystem::path(testing::TempDir()) / ("selftest_test." + std::to_string(getpid()) + ".json")) {}
  ~SelfTest() override { std::filesystem::remove(path_); }

  std::unique_ptr<device::Device> open(const std::string& script) {
    write_file(path_, script);
    return compile::open_device("fake:" + path_.string());
  }
  static const SelfTestRow& row(const std::vector<SelfTestRow>& rows, const std::string& what) {
    const auto at =
        std::find_if(rows.begin(), rows.end(), [&](const SelfTestRow& one) { return one.what.starts_with(what); });
    EXPECT_NE(at, rows.end()) << what;
    return *at;
  }

  std::filesystem::path path_;
};

TEST_F(SelfTest, TheLatticeIsTheSmallestDifferenceOfDistinctTimes) {
  const std::vector<double> times{10.000, 10.064, 10.032, 10.0, 10.128};
  EXPECT_NEAR(lattice_us(times).value(), 0.032, 1e-9);
  EXPECT_FALSE(lattice_us(std::vector<double>{5.0, 5.0, 5.00001}).has_value());
}

TEST_F(SelfTest, TheDetectableShiftGrowsWithTheScatterAndShrinksWithThePairs) {
  const std::vector<double> ratios{0.01, -0.01, 0.01, -0.01, 0.01, -0.01, 0.01, -0.01};
  // sd 0.01069; (2.054 + 1.282) · sd / √(0.9549 · 8)
  EXPECT_NEAR(detectable_pct(ratios, 8), 1.299, 0.002);
  EXPECT_NEAR(detectable_pct(ratios, 32), 0.647, 0.002);
  EXPECT_EQ(detectable_pct(std::vector<double>{0.0, 0.0, 0.0}, 8), 0.0);
}

TEST_F(SelfTest, SaysWhatTheMachineCanResolve) {
  const auto device = open(R"({"default": {"time_us": 11, "sd_us": 0.05}, "timers": ["events", "cupti"]})");
  const auto rows = self_test(*device, [] {
    return model::Result<device::EvictionProof>(device::EvictionProof{33554432, 33500000, 100000, 90000});
  });
  EXPECT_EQ(row(rows, "a 20 µs kernel by events").grade, Grade::kGood);
  EXPECT_EQ(row(rows, "a 20 µs kernel by cupti").grade, Grade::kGood);
  EXPECT_EQ(row(rows, "lattice").value, "0.0320 µs");
  const double empty_pair = std::stod(row(rows, "an empty pair").value);
  EXPECT_NEAR(empty_pair, 1.25, 0.05);
  EXPECT_GT(std::stod(row(rows, "an empty kernel").value), empty_pair);
  const double shift = std::stod(row(rows, "smallest shift").value);
  EXPECT_EQ(row(rows, "smallest shift").remark,
            "within a process, 8 pairs; `ktune gate --aa` says what processes differ by");
  EXPECT_GT(shift, 0.01);
  EXPECT_LT(shift, 1.0);
  EXPECT_EQ(row(rows, "counters").value, "allowed");
  EXPECT_EQ(row(rows, "eviction").value, "proved");
}

TEST_F(SelfTest, AnEvictionThatLeavesTheDataInL2IsNoProof) {
  EXPECT_TRUE(proves({1000, 950, 10, 0}));
  EXPECT_FALSE(proves({1000, 949, 10, 0}));
  EXPECT_FALSE(proves({1000, 1000, 900, 0})) << "a counter that says the same without eviction tells nothing";
}

TEST_F(SelfTest, CountersThatAreForbiddenAreANoteWithTheRemedy) {
  const auto device = open("{}");
  const auto rows = self_test(*device, [] {
    return model::Result<device::EvictionProof>(
        model::fail(model::Outcome::kRejected, "for administrators only", "run as root"));
  });
  EXPECT_EQ(row(rows, "counters").grade, Grade::kNote);
  EXPECT_EQ(row(rows, "counters").remark, "for administrators only; run as root");
  EXPECT_EQ(row(rows, "eviction").value, "not proved");
}

TEST_F(SelfTest, ATimerThatCannotBeHadIsNamedWithTheReason) {
  const auto device = open(R"({"timers": ["script"], "facts": {"kind": "cuda", "target": "fake"}})");
  const auto rows = self_test(
      *device, [] { return model::Result<device::EvictionProof>(model::fail(model::Outcome::kRejected, "no", "")); });
  EXPECT_EQ(row(rows, "a 20 µs kernel by cupti").grade, Grade::kNote);
  EXPECT_EQ(row(rows, "a 20 µs kernel by cupti").remark, "no cupti timer here: this device has no timer 'cupti'");
  EXPECT_EQ(row(rows, "a 20 µs kernel by events").grade, Grade::kBad);
}

TEST_F(SelfTest, TheProofComesFromAProcessOfItsOwnAndIsRemembered) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("selftest_cache." + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  setenv("KTUNE_CACHE_DIR", folder.c_str(), 1);
  const auto device =
      open(R"({"facts": {"uuid": "FAKE-9", "driver": "1.2"}, "dram": {"read": 40000000, "written": 0}})");
  EXPECT_FALSE(stored_proof(device->facts()).has_value());
  const auto proof = prove_eviction("fake:" + path_.string(), device->facts());
  ASSERT_TRUE(proof) << proof.error().reason << proof.error().detail;
  EXPECT_EQ(proof->cold_read, 33554432);
  const auto stored = stored_proof(device->facts());
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(stored->proof.cold_read, 33554432);
  model::DeviceFacts newer = device->facts();
  newer.driver = "1.3";
  EXPECT_FALSE(stored_proof(newer).has_value());
  unsetenv("KTUNE_CACHE_DIR");
  std::filesystem::remove_all(folder);
}

TEST_F(SelfTest, TrafficTextHoldsCountedAndModelledSideBySide) {
  const model::Cost cost{33554432, 33554432, 0, 0};
  EXPECT_EQ(traffic_text({33600000, 33500000, ""}, cost),
            "reads 33.60 MB (model 33.55), writes 33.50 MB (model 33.55), 1.000 of the model");
  EXPECT_EQ(traffic_text({-1, -1, "for administrators only"}, cost), "not counted: for administrators only");
}

}  // namespace
}  // namespace ktune::probe
