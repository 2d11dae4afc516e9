#include "gate/baseline_file.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "verdict/baselines_for_test.h"

namespace ktune::gate {
namespace {

TEST(BaselineFile, IsNotWrittenWhenItCouldNotBeRead) {
  verdict::Baseline baseline = verdict::baseline_for_test();
  baseline.kernels[0].history[0].ratio = std::numeric_limits<double>::quiet_NaN();
  try {
    save_baseline(baseline, "/nonexistent/b.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_TRUE(error.message().starts_with("/nonexistent/b.json: "));
  }
}

TEST(BaselineFile, ThatIsNotThereIsNoData) {
  try {
    load_baseline("/nonexistent/b.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNoData);
    EXPECT_EQ(error.message(), "there is no baseline /nonexistent/b.json");
  }
}

}  // namespace
}  // namespace ktune::gate
