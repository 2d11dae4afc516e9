#include "device/cpu/launch_check.h"

#include <fmt/format.h>

#include <cstring>

#include "model/limits.h"

namespace ktune::device::cpu {
namespace {

using model::ArgPlan;
using model::Outcome;

std::string_view kind_text(ktune_cpu::ParameterKind kind) {
  switch (kind) {
    case ktune_cpu::kPointer:
      return "a pointer";
    case ktune_cpu::kInteger:
      return "an integer";
    case ktune_cpu::kReal:
      return "a floating-point number";
    default:
      return "a value";
  }
}

/// What a plan's argument is to a kernel; kOther where any parameter of its size will do.
ktune_cpu::ParameterKind kind_of(const ArgPlan& arg) {
  switch (arg.kind) {
    case ArgPlan::Kind::kTensor:
      return ktune_cpu::kPointer;
    case ArgPlan::Kind::kInteger:
      return ktune_cpu::kInteger;
    case ArgPlan::Kind::kScalar:
      break;
  }
  switch (arg.dtype) {
    case model::DType::kF32:
    case model::DType::kF64:
      return ktune_cpu::kReal;
    case model::DType::kF16:
    case model::DType::kBf16:
      return ktune_cpu::kOther;
    default:
      return ktune_cpu::kInteger;
  }
}

/// True when a 64-bit integer keeps its value in `bytes` bytes, signed or unsigned.
bool fits(const std::vector<std::byte>& arg, int bytes) {
  std::int64_t value = 0;
  std::memcpy(&value, arg.data(), sizeof value);
  const int bits = 8 * bytes;
  return value >= -(std::int64_t{1} << (bits - 1)) && value < (std::int64_t{1} << bits);
}

model::Status check_one(const PreparedLaunch& launch, std::size_t i, const ktune_cpu::Parameter& parameter) {
  const std::vector<std::byte>& arg = launch.args[i];
  const auto size = static_cast<int>(arg.size());
  const auto wrong = [&](std::string_view given) {
    return model::fail(Outcome::kLaunchFailed,
                       fmt::format("argument {} of '{}' is {}, the kernel takes {} of {} bytes", i + 1, launch.kernel,
                                   given, kind_text(parameter.kind), parameter.bytes));
  };
  if (launch.plan.args.size() == launch.args.size()) {
    const ktune_cpu::ParameterKind kind = kind_of(launch.plan.args[i]);
    const bool any = kind == ktune_cpu::kOther || parameter.kind == ktune_cpu::kOther;
    if (!any && kind != parameter.kind) return wrong(kind_text(kind));
  }
  if (size == parameter.bytes) return {};
  if (parameter.kind != ktune_cpu::kInteger || size != 8 || parameter.bytes > 4) {
    return wrong(fmt::format("{} bytes long", size));
  }
  if (!fits(arg, parameter.bytes)) return wrong("an integer too large for it");
  return {};
}

}  // namespace

model::Status check_limits(const PreparedLaunch& launch, const model::DeviceFacts& facts) {
  const auto broken = model::limit_broken(launch.plan, facts);
  return broken ? model::fail(Outcome::kRejected, broken->text) : model::Status();
}

model::Status check_arguments(const PreparedLaunch& launch, const ktune_cpu::Entry& entry) {
  if (static_cast<int>(launch.args.size()) != entry.parameter_count) {
    return model::fail(Outcome::kLaunchFailed, fmt::format("'{}' takes {} arguments, the launch gives {}",
                                                           launch.kernel, entry.parameter_count, launch.args.size()));
  }
  for (std::size_t i = 0; i < launch.args.size(); ++i) {
    if (auto status = check_one(launch, i, entry.parameters[i]); !status) return status;
  }
  return {};
}

}  // namespace ktune::device::cpu
