#include "compile/targets.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace ktune::compile {

namespace {

/// The flagship of each architecture: A100, H200, B200, RTX 5090 (CUDA C++ Programming Guide, "Compute Capabilities";
/// SM counts and L2 from the data sheets).
struct Target {
  const char* name;
  int sm, sm_count;
  std::int64_t l2_mib, smem_optin_kib;
};
constexpr std::array kTargets{Target{"sm_80", 80, 108, 40, 163}, Target{"sm_90", 90, 132, 60, 227},
                              Target{"sm_100", 100, 148, 126, 227}, Target{"sm_120", 120, 170, 96, 99}};

}  // namespace

model::DeviceFacts target_facts(const std::string& target) {
  std::vector<std::string> known;
  for (const Target& entry : kTargets) {
    known.emplace_back(entry.name);
    if (target != entry.name) continue;
    model::DeviceFacts facts;
    facts.kind = "cuda";
    facts.name = target;
    facts.target = target;
    facts.sm = entry.sm;
    facts.sm_count = entry.sm_count;
    facts.l2_bytes = entry.l2_mib << 20;
    facts.smem_optin = entry.smem_optin_kib << 10;
    facts.registers_per_sm = 65536;
    facts.memory_bytes = std::int64_t{1} << 40;  // nothing is allocated
    return facts;
  }
  throw Error(ErrorKind::kUsage, fmt::format("unknown target '{}'{}", target, did_you_mean(target, known)),
              "one of " + join(known, ", "));
}

}  // namespace ktune::compile
