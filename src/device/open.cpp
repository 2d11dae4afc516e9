#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "device/cpu/cpu_device.h"
#include "device/cuda/cuda_device.h"
#include "device/device.h"
#include "device/fake/fake_device.h"
#include "device/host_memory.h"

// Device names, and which device each means: one row a kind.

namespace ktune::device {
namespace {

constexpr double kCountTimeoutS = 20.0;

struct Kind {
  const char* prefix;
  bool takes_more;  ///< "cuda:1", "fake:FILE"
  std::unique_ptr<Device> (*open)(const std::string& rest, const BuiltinCompiler& compiler);
};

int ordinal_of(const std::string& text) {
  int ordinal = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ordinal);
  if (error != std::errc() || end != text.data() + text.size() || ordinal < 0) {
    throw Error(ErrorKind::kUsage, fmt::format("'cuda:{}' is not a device", text), "a GPU is cuda:0, cuda:1, …");
  }
  return ordinal;
}

constexpr std::array<Kind, 4> kKinds{{
    {"cuda", true,
     [](const std::string& rest, const BuiltinCompiler& compiler) {
       return open_cuda_device(ordinal_of(rest), compiler);
     }},
    {"cpu", false, [](const std::string&, const BuiltinCompiler&) { return open_cpu_device(false); }},
    {"cpu-sanitize", false, [](const std::string&, const BuiltinCompiler&) { return open_cpu_device(true); }},
    {"fake", true, [](const std::string& rest, const BuiltinCompiler&) { return open_fake_device(rest); }},
}};

/// The part of `name` after "kind:"; nothing if it is not of that kind.
std::optional<std::string> rest_of(const std::string& name, const Kind& kind) {
  if (!kind.takes_more) return name == kind.prefix ? std::optional<std::string>("") : std::nullopt;
  const std::string prefix = std::string(kind.prefix) + ":";
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return std::nullopt;
  return name.substr(prefix.size());
}

[[noreturn]] void unknown_device(const std::string& name) {
  const std::vector<std::string> known{"auto", "cuda:0", "cpu", "cpu-sanitize", "fake:FILE"};
  throw Error(ErrorKind::kUsage, fmt::format("unknown device '{}'{}", name, did_you_mean(name, known)),
              "devices are auto, cuda:N, cpu, cpu-sanitize and fake:FILE");
}

/// Counts GPUs in a child: the driver starts threads and maps memory that a parent of many processes must not have.
int count_in_child() {
  std::array<int, 2> pipe_fds{};
  if (pipe(pipe_fds.data()) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) {
    std::string problem;
    const int count = count_cuda_devices(problem);
    const ssize_t written = ::write(pipe_fds[1], &count, sizeof count);
    _exit(written == static_cast<ssize_t>(sizeof count) ? 0 : 1);
  }
  close(pipe_fds[1]);
  int count = 0;
  if (child > 0) {
    pollfd wait{pipe_fds[0], POLLIN, 0};
    const double end_s = now_s() + kCountTimeoutS;
    while (poll(&wait, 1, static_cast<int>(std::max(0.0, end_s - now_s()) * 1e3)) < 0 && errno == EINTR) {
    }
    if ((wait.revents & POLLIN) == 0 || ::read(pipe_fds[0], &count, sizeof count) != sizeof count) count = 0;
    kill(child, SIGKILL);
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close(pipe_fds[0]);
  return count;
}

int count_gpus() {
  if (!has_cuda_driver()) return count_in_child();
  std::string problem;
  return count_cuda_devices(problem);
}

}  // namespace

std::string Device::timer_problem(model::Timer timer) {
  const std::vector<model::Timer> offered = timers();
  if (std::find(offered.begin(), offered.end(), timer) != offered.end()) return {};
  return fmt::format("this device has no timer '{}'", model::name_of(timer));
}

model::Result<std::vector<double>> Device::time_probe(const Probe& /*probe*/, const TimingRequest& /*request*/) {
  return model::fail(model::Outcome::kRejected, "this device has no kernels of known duration");
}

model::Result<DramTraffic> Device::traffic(const TimedCall& /*call*/) {
  return model::fail(model::Outcome::kRejected, "this device has no hardware counters", "they need an NVIDIA GPU");
}

model::Result<EvictionProof> Device::prove_eviction() {
  return model::fail(model::Outcome::kRejected, "this device has no hardware counters", "they need an NVIDIA GPU");
}

std::vector<std::byte> argument_bytes(const model::ArgPlan& arg, DevicePtr tensor_address) {
  std::vector<std::byte> bytes(8);
  switch (arg.kind) {
    case model::ArgPlan::Kind::kTensor:
      std::memcpy(bytes.data(), &tensor_address, sizeof tensor_address);
      break;
    case model::ArgPlan::Kind::kInteger:
      std::memcpy(bytes.data(), &arg.integer, sizeof arg.integer);
      break;
    case model::ArgPlan::Kind::kScalar:
      bytes.resize(static_cast<std::size_t>(model::size_of(arg.dtype)));
      store_element(arg.dtype, bytes.data(), arg.real);
      break;
  }
  return bytes;
}

std::string resolve_device_name(const std::string& name) {
  if (name == "auto") {
    static const bool has_gpu = count_gpus() > 0;
    return has_gpu ? "cuda:0" : "cpu";
  }
  if (name == "cuda") return "cuda:0";
  for (const Kind& kind : kKinds) {
    const std::optional<std::string> rest = rest_of(name, kind);
    if (!rest) continue;
    if (std::strcmp(kind.prefix, "cuda") == 0) return fmt::format("cuda:{}", ordinal_of(*rest));
    return name;
  }
  unknown_device(name);
}

std::unique_ptr<Device> open_device(const std::string& name, const BuiltinCompiler& compiler) {
  const std::string resolved = resolve_device_name(name);
  for (const Kind& kind : kKinds) {
    if (const std::optional<std::string> rest = rest_of(resolved, kind)) return kind.open(*rest, compiler);
  }
  unknown_device(name);
}

}  // namespace ktune::device
