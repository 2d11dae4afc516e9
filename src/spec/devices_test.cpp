#include <gtest/gtest.h>

#include "spec/fixture_test.h"
#include "spec/spec.h"

namespace ktune::spec {
namespace {

class Devices : public SpecFolder {
 protected:
  std::string error(const std::string& text) const {
    write(text, "gpu.toml");
    return error_of([&] { device_peaks_in(folder_.string()); });
  }
};

TEST_F(Devices, AreFoundByTheDriversName) {
  write("[device]\nnames = [\"NVIDIA X1\", \"NVIDIA X1 * NVL\"]\npeak_gbps = 4800\nsource = \"a sheet\"\n", "x1.toml");
  write("[device]\nnames = [\"NVIDIA X2*\"]\npeak_gbps = 300.5\nsource = \"another\"\n", "x2.toml");
  const auto peaks = device_peaks_in(folder_.string());
  ASSERT_EQ(peaks.size(), 2U);
  EXPECT_EQ(peak_of(peaks, "NVIDIA X1")->gbps, 4800.0);
  EXPECT_EQ(peak_of(peaks, "NVIDIA X1 80GB NVL")->source, "a sheet");
  EXPECT_EQ(peak_of(peaks, "NVIDIA X2 SUPER")->gbps, 300.5);
  EXPECT_FALSE(peak_of(peaks, "NVIDIA X1 80GB"));
  EXPECT_FALSE(peak_of(peaks, "NVIDIA X"));
  EXPECT_FALSE(peak_of(peaks, "G NVIDIA X1"));
}

TEST_F(Devices, SayWhatIsWrong) {
  EXPECT_EQ(error("[device]\nnames = [\"a\"]\nsource = \"s\"\n"), "gpu.toml:1:1 [device] needs 'peak_gbps'");
  EXPECT_EQ(error("[device]\nnames = [\"a\"]\npeak_gbps = 0\nsource = \"s\"\n"),
            "gpu.toml:1:1 peak_gbps is not above 0");
  EXPECT_EQ(error("[device]\nnames = [\"a\"]\npeak_gbp = 1\npeak_gbps = 2\nsource = \"s\"\n"),
            "gpu.toml:3:1 [device] has no key 'peak_gbp'; did you mean 'peak_gbps'?");
}

TEST(ShippedDevices, HoldTheH200) {
  const auto peaks = device_peaks();
  EXPECT_GE(peaks.size(), 5U);
  ASSERT_TRUE(peak_of(peaks, "NVIDIA H200"));
  EXPECT_EQ(peak_of(peaks, "NVIDIA H200")->gbps, 4800.0);
  EXPECT_FALSE(peak_of(peaks, "NVIDIA GH200 480GB"));
}

}  // namespace
}  // namespace ktune::spec
