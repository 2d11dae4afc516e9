#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "device/cuda/cuda_device.h"
#include "device/device.h"

namespace ktune::device {
namespace {

using model::ArgPlan;
using model::DType;

std::string hex(const std::vector<std::byte>& bytes) {
  static const char* digits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<int>(byte) >> 4];
    text += digits[std::to_integer<int>(byte) & 15];
  }
  return text;
}

std::string scalar(DType dtype, double value) {
  ArgPlan arg;
  arg.kind = ArgPlan::Kind::kScalar;
  arg.dtype = dtype;
  arg.real = value;
  return hex(argument_bytes(arg, 0));
}

TEST(ArgumentBytes, OfAScalarHaveItsTypesSizeAndAreRoundedOnce) {
  EXPECT_EQ(scalar(DType::kF32, 1.0), "0000803f");
  EXPECT_EQ(scalar(DType::kF32, 1e-6), "bd378635");
  EXPECT_EQ(scalar(DType::kF64, 1.0), "000000000000f03f");
  EXPECT_EQ(scalar(DType::kF16, -2.0), "00c0");
  EXPECT_EQ(scalar(DType::kBf16, 1.00390625), "803f");  // halfway between 1 and 1.0078125: to even
  EXPECT_EQ(scalar(DType::kI8, -3.0), "fd");
  EXPECT_EQ(scalar(DType::kI32, 258.0), "02010000");
  EXPECT_EQ(scalar(DType::kI64, -1.0), "ffffffffffffffff");
}

TEST(ArgumentBytes, OfTensorsAndIntegersAreEight) {
  ArgPlan tensor;
  tensor.kind = ArgPlan::Kind::kTensor;
  EXPECT_EQ(hex(argument_bytes(tensor, 0x0123456789abcdefULL)), "efcdab8967452301");
  ArgPlan integer;
  integer.kind = ArgPlan::Kind::kInteger;
  integer.integer = -2;
  EXPECT_EQ(hex(argument_bytes(integer, 0)), "feffffffffffffff");
}

TEST(DeviceNames, AreCheckedWithoutOpeningTheDevice) {
  EXPECT_EQ(resolve_device_name("cpu"), "cpu");
  EXPECT_EQ(resolve_device_name("cpu-sanitize"), "cpu-sanitize");
  EXPECT_EQ(resolve_device_name("cuda"), "cuda:0");
  EXPECT_EQ(resolve_device_name("cuda:3"), "cuda:3");
  EXPECT_EQ(resolve_device_name("fake:some/file.json"), "fake:some/file.json");
  for (const char* wrong : {"gpu", "cuda:", "cuda:x", "cuda:-1", "fake:", "cpu:1", ""}) {
    try {
      const std::string resolved = resolve_device_name(wrong);
      FAIL() << "'" << wrong << "' became " << resolved;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage) << wrong;
    }
  }
  try {
    resolve_device_name("cpy");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "unknown device 'cpy'; did you mean 'cpu'?");
  }
}

TEST(DeviceNames, AutoIsTheGpuIfThereIsOne) {
  std::string problem;
  const int gpus = count_cuda_devices(problem);
  EXPECT_EQ(resolve_device_name("auto"), gpus > 0 ? "cuda:0" : "cpu");
  EXPECT_EQ(problem.empty(), gpus > 0);
}

TEST(CudaDevice, SaysWhatIsMissingAndWhatToDo) {
  std::string problem;
  const int gpus = count_cuda_devices(problem);
  try {
    open_device("cuda:99", {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_FALSE(error.hint().empty());
    if (gpus > 0) {
      EXPECT_NE(error.message().find("there is no cuda:99"), std::string::npos);
    } else {
      EXPECT_EQ(error.message(), problem);
    }
  }
}

}  // namespace
}  // namespace ktune::device
