// The JSON of what a device says and of what was timed.

#include "model/json.h"
#include "model/json_fields.h"

namespace ktune::model {

void to_json(Json& json, const DeviceFacts& value) {
  json = Json{{"kind", value.kind},
              {"name", value.name},
              {"uuid", value.uuid},
              {"target", value.target},
              {"sm", value.sm},
              {"sm_count", value.sm_count},
              {"l2_bytes", value.l2_bytes},
              {"smem_optin", value.smem_optin},
              {"max_threads", value.max_threads},
              {"registers_per_sm", value.registers_per_sm},
              {"memory_bytes", value.memory_bytes},
              {"memory_clock_mhz", value.memory_clock_mhz},
              {"bus_bits", value.bus_bits},
              {"spec_gbps", number_json(value.spec_gbps)},
              {"driver", value.driver},
              {"driver_cuda", value.driver_cuda},
              {"toolkit", value.toolkit},
              {"power_limit_w", number_json(value.power_limit_w)},
              {"ecc", value.ecc},
              {"mig", value.mig},
              {"host", value.host}};
}

void from_json(const Json& json, DeviceFacts& value) {
  read(json, "kind", value.kind);
  read(json, "name", value.name);
  read(json, "uuid", value.uuid);
  read(json, "target", value.target);
  read(json, "sm", value.sm);
  read(json, "sm_count", value.sm_count);
  read(json, "l2_bytes", value.l2_bytes);
  read(json, "smem_optin", value.smem_optin);
  read(json, "max_threads", value.max_threads);
  read(json, "registers_per_sm", value.registers_per_sm);
  read(json, "memory_bytes", value.memory_bytes);
  read(json, "memory_clock_mhz", value.memory_clock_mhz);
  read(json, "bus_bits", value.bus_bits);
  read(json, "spec_gbps", value.spec_gbps);
  read(json, "driver", value.driver);
  read(json, "driver_cuda", value.driver_cuda);
  read(json, "toolkit", value.toolkit);
  read(json, "power_limit_w", value.power_limit_w);
  read(json, "ecc", value.ecc);
  read(json, "mig", value.mig);
  read(json, "host", value.host);
}

void to_json(Json& json, const MachineState& value) {
  json = Json{{"sm_clock_mhz", number_json(value.sm_clock_mhz)},
              {"memory_clock_mhz", number_json(value.memory_clock_mhz)},
              {"power_w", number_json(value.power_w)},
              {"temperature_c", number_json(value.temperature_c)},
              {"throttle_bits", value.throttle_bits},
              {"other_processes", value.other_processes}};
}

void from_json(const Json& json, MachineState& value) {
  read(json, "sm_clock_mhz", value.sm_clock_mhz);
  read(json, "memory_clock_mhz", value.memory_clock_mhz);
  read(json, "power_w", value.power_w);
  read(json, "temperature_c", value.temperature_c);
  read(json, "throttle_bits", value.throttle_bits);
  read(json, "other_processes", value.other_processes);
}

void to_json(Json& json, const TimingSummary& value) {
  json = Json{{"time_us", number_json(value.time_us)},
              {"mean_us", number_json(value.mean_us)},
              {"min_us", number_json(value.min_us)},
              {"p10_us", number_json(value.p10_us)},
              {"p90_us", number_json(value.p90_us)},
              {"ci_low_us", number_json(value.ci_low_us)},
              {"ci_high_us", number_json(value.ci_high_us)},
              {"ci_level", number_json(value.ci_level)},
              {"n", value.n}};
}

void from_json(const Json& json, TimingSummary& value) {
  read(json, "time_us", value.time_us);
  read(json, "mean_us", value.mean_us);
  read(json, "min_us", value.min_us);
  read(json, "p10_us", value.p10_us);
  read(json, "p90_us", value.p90_us);
  read(json, "ci_low_us", value.ci_low_us);
  read(json, "ci_high_us", value.ci_high_us);
  read(json, "ci_level", value.ci_level);
  read(json, "n", value.n);
}

}  // namespace ktune::model
