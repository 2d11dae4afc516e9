#pragma once

#include <cstdint>
#include <string>

namespace ktune::model {

/// What a device is: attributes only, nothing measured. 0 or "" where the device does not say.
struct DeviceFacts {
  std::string kind;  ///< "cuda", "cpu", "fake"
  std::string name;  ///< "NVIDIA H200"
  std::string uuid;
  std::string target;  ///< what to compile for: "sm_90", "cpu", "fake"
  int sm = 0;          ///< compute capability × 10: 90
  int sm_count = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t smem_optin = 0;  ///< most dynamic shared memory a block may ask for, bytes
  int max_threads = 1024;       ///< per block
  int registers_per_sm = 0;
  std::int64_t memory_bytes = 0;
  int memory_clock_mhz = 0;
  int bus_bits = 0;
  double spec_gbps = 0.0;  ///< 2 · memory clock · bus width / 8, or the datasheet's; 0: unknown
  std::string driver;      ///< "580.159.04"
  int driver_cuda = 0;     ///< newest CUDA the driver supports: 13000
  std::string toolkit;     ///< NVRTC or host compiler, "NVRTC 13.0", "g++ 12.2.0"
  double power_limit_w = 0.0;
  int ecc = -1;  ///< 1 on, 0 off, −1 unknown
  int mig = -1;
  std::string host;  ///< CPU model for the CPU device

  static void fields(auto& self, auto&& field) {
    field("kind", self.kind);
    field("name", self.name);
    field("uuid", self.uuid);
    field("target", self.target);
    field("sm", self.sm);
    field("sm_count", self.sm_count);
    field("l2_bytes", self.l2_bytes);
    field("smem_optin", self.smem_optin);
    field("max_threads", self.max_threads);
    field("registers_per_sm", self.registers_per_sm);
    field("memory_bytes", self.memory_bytes);
    field("memory_clock_mhz", self.memory_clock_mhz);
    field("bus_bits", self.bus_bits);
    field("spec_gbps", self.spec_gbps);
    field("driver", self.driver);
    field("driver_cuda", self.driver_cuda);
    field("toolkit", self.toolkit);
    field("power_limit_w", self.power_limit_w);
    field("ecc", self.ecc);
    field("mig", self.mig);
    field("host", self.host);
  }
};

/// NVML's (or the host's) view at one moment; NaN or −1 where it does not say.
struct MachineState {
  double sm_clock_mhz = -1;
  double memory_clock_mhz = -1;
  double power_w = -1;
  double temperature_c = -1;
  std::uint64_t throttle_bits = 0;
  int other_processes = 0;  ///< other compute processes on the device

  static void fields(auto& self, auto&& field) {
    field("sm_clock_mhz", self.sm_clock_mhz);
    field("memory_clock_mhz", self.memory_clock_mhz);
    field("power_w", self.power_w);
    field("temperature_c", self.temperature_c);
    field("throttle_bits", self.throttle_bits);
    field("other_processes", self.other_processes);
  }
};

}  // namespace ktune::model
