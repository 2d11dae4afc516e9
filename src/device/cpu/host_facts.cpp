#include "device/cpu/host_facts.h"

#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "device/cpu/host_toolchain.h"

namespace ktune::device::cpu {
namespace {

std::optional<std::string> cpuinfo(std::string_view field) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && trim(line.substr(0, colon)) == field) {
      return std::string(trim(line.substr(colon + 1)));
    }
  }
  return std::nullopt;
}

/// The last-level cache of core 0; 0 where the system does not say.
std::int64_t last_level_cache_bytes() {
  std::int64_t bytes = 0;
  for (int index = 0; index < 8; ++index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
    std::string size;
    if (!(file >> size)) break;
    try {
      bytes = std::max(bytes, parse_integer(size, "cache size"));
    } catch (const Error&) {
      break;
    }
  }
  return bytes;
}

}  // namespace

model::DeviceFacts host_facts(bool sanitize, int os_threads) {
  model::DeviceFacts facts;
  facts.kind = "cpu";
  facts.name = cpuinfo("model name").value_or("unknown processor");
  facts.host = facts.name;
  facts.target = sanitize ? "cpu-sanitize" : "cpu";
  facts.sm = 90;
  facts.sm_count = os_threads;
  facts.l2_bytes = last_level_cache_bytes();
  facts.smem_optin = kSharedBytes;
  facts.max_threads = kMaxBlockThreads;
  struct sysinfo memory{};
  if (sysinfo(&memory) == 0) {
    facts.memory_bytes = static_cast<std::int64_t>(memory.totalram) * static_cast<std::int64_t>(memory.mem_unit);
  }
  struct utsname kernel{};
  if (uname(&kernel) == 0) facts.driver = std::string(kernel.sysname) + " " + kernel.release;
  try {
    facts.toolkit = host_toolchain().text();
  } catch (const Error&) {
    facts.toolkit.clear();  // the compile says so, with a hint
  }
  return facts;
}

model::MachineState host_state() {
  model::MachineState state;
  if (const auto mhz = cpuinfo("cpu MHz")) state.sm_clock_mhz = std::strtod(mhz->c_str(), nullptr);
  return state;
}

int block_threads(bool sanitize) {
  if (sanitize) return 1;
  cpu_set_t set;
  CPU_ZERO(&set);
  const int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return std::clamp(cores, 1, 16);
}

}  // namespace ktune::device::cpu
