#include "probe/eviction_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "model/json.h"
#include "probe/counters.h"

namespace ktune::probe {
namespace {

constexpr double kDeadlineS = 120.0;

double share(std::int64_t part, const device::EvictionProof& proof) {
  return static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(proof.bytes, 1));
}

std::filesystem::path path_of(const model::DeviceFacts& facts) {
  std::string name = facts.uuid + "-" + facts.driver;
  std::replace(name.begin(), name.end(), '/', '_');
  return cache_dir() / ("eviction-" + name + ".json");
}

}  // namespace

bool proves(const device::EvictionProof& proof) {
  return share(proof.cold_read, proof) >= kProvedShare && share(proof.warm_read, proof) <= kMostWarmShare;
}

std::string proof_text(const device::EvictionProof& proof) {
  return fmt::format(
      "{:.2f} % of a {:.1f} MB read behind it came from DRAM ({:.2f} % without it), {:.2f} MB were written",
      100.0 * share(proof.cold_read, proof), static_cast<double>(proof.bytes) / 1e6,
      100.0 * share(proof.warm_read, proof), static_cast<double>(proof.written) / 1e6);
}

std::optional<StoredProof> stored_proof(const model::DeviceFacts& facts) {
  try {
    const auto json = model::Json::parse(read_file(path_of(facts)));
    return StoredProof{json.get<device::EvictionProof>(), json.at("date").get<std::string>()};
  } catch (const std::exception&) {  // none yet, or not ours: it is measured again when it is wanted
    return std::nullopt;
  }
}

model::Result<device::EvictionProof> prove_eviction(const std::string& device, const model::DeviceFacts& facts) {
  auto proof = count_eviction(device, kDeadlineS);
  if (!proof || facts.uuid.empty()) return proof;
  model::Json json{{"device", facts.name}, {"driver", facts.driver}};
  json.update(*proof);
  json["date"] = utc_now();
  write_file(path_of(facts), json.dump(1) + "\n");
  return proof;
}

}  // namespace ktune::probe
