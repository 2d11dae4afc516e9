#include "device/cuda/init_errors.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace ktune::device::cuda {
namespace {

Error error_of(int result, const std::string& text) {
  try {
    throw_init_error(result, text);
  } catch (const Error& error) {
    return error;
  }
}

TEST(InitErrors, SayWhatIsWrongAndWhatToDo) {
  struct Case {
    int result;
    const char* message;
    const char* hint_has;
  };
  for (const Case& one :
       {Case{100, "the NVIDIA driver sees no GPU", "CUDA_VISIBLE_DEVICES"},
        Case{34, "the libcuda.so.1 found is the toolkit's stub, not a driver", "LD_LIBRARY_PATH"},
        Case{803, "the NVIDIA driver's library and kernel module are of different versions", "restart"},
        Case{802, "the machine's GPU fabric is not ready", "fabricmanager"},
        Case{304, "the NVIDIA driver cannot be used: WORDS", "/dev/nvidia"},
        Case{999, "the NVIDIA driver does not start: WORDS", "nvidia-smi"}}) {
    const Error error = error_of(one.result, "WORDS");
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_EQ(error.message(), one.message);
    EXPECT_NE(error.hint().find(one.hint_has), std::string::npos) << error.hint();
  }
}

std::string version_error(int driver, int major, int minor) {
  try {
    check_driver_version(driver, major, minor);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_FALSE(error.hint().empty());
    return error.message();
  }
  return "";
}

TEST(DriverVersion, MustBeNewEnoughForKtuneAndForNvrtcsMachineCode) {
  EXPECT_EQ(version_error(13000, 13, 0), "");
  EXPECT_EQ(version_error(13000, 13, 2), "");  // minor versions load each other's machine code
  EXPECT_EQ(version_error(13010, 12, 8), "");
  EXPECT_EQ(version_error(12080, 13, 0),
            "the NVIDIA driver supports CUDA 12.8 and cannot load what NVRTC 13.0 compiles");
  EXPECT_EQ(version_error(11080, 12, 8), "the NVIDIA driver is too old: it supports CUDA 11.8, ktune needs 12.0");
}

}  // namespace
}  // namespace ktune::device::cuda
