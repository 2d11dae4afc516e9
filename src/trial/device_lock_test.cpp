#include "trial/device_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/error.h"

namespace ktune::trial {
namespace {

class DeviceLockTest : public testing::Test {
 protected:
  DeviceLockTest() {
    folder_ = std::filesystem::path(testing::TempDir()) / ("device_lock_test." + std::to_string(getpid()));
    setenv("KTUNE_CACHE_DIR", folder_.c_str(), 1);
  }
  ~DeviceLockTest() override {
    unsetenv("KTUNE_CACHE_DIR");
    std::filesystem::remove_all(folder_);
  }
  std::filesystem::path folder_;
};

TEST_F(DeviceLockTest, KeepsASecondHolderOutAndNamesTheFirst) {
  const DeviceLock first = DeviceLock::acquire("GPU-1/2", "NVIDIA H200", 0.0, {});
  EXPECT_TRUE(first.held());
  try {
    DeviceLock::acquire("GPU-1/2", "NVIDIA H200", 0.0, {});
    FAIL() << "locked twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_EQ(error.message(), "another ktune (process " + std::to_string(getpid()) + ") is measuring on NVIDIA H200");
    EXPECT_NE(error.hint(), "");
  }
}

TEST_F(DeviceLockTest, LetsAnotherDeviceBeUsed) {
  const DeviceLock first = DeviceLock::acquire("GPU-1", "one", 0.0, {});
  EXPECT_TRUE(DeviceLock::acquire("GPU-2", "two", 0.0, {}).held());
}

TEST_F(DeviceLockTest, EndsWithItsHolder) {
  {
    const DeviceLock first = DeviceLock::acquire("GPU-1", "one", 0.0, {});
  }
  EXPECT_TRUE(DeviceLock::acquire("GPU-1", "one", 0.0, {}).held());
}

TEST_F(DeviceLockTest, WaitsAndSaysForWhomOnce) {
  auto first = std::make_unique<DeviceLock>(DeviceLock::acquire("GPU-1", "one", 0.0, {}));
  int said = 0;
  std::string holder;
  std::thread release([&first] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    first.reset();
  });
  const DeviceLock second = DeviceLock::acquire("GPU-1", "one", 10.0, [&](const std::string& text) {
    ++said;
    holder = text;
  });
  release.join();
  EXPECT_TRUE(second.held());
  EXPECT_EQ(said, 1);
  EXPECT_EQ(holder, "waiting until another ktune (process " + std::to_string(getpid()) + ") has finished on one");
}

}  // namespace
}  // namespace ktune::trial
