#pragma once

#include <string>
#include <vector>

#include "device/device.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "model/record.h"

// Hardware counters, always in a process of their own (`ktune counters-worker`, hidden): a process that counts must
// time nothing.

namespace ktune::probe {

/// One problem's variants to count, with what is needed to run them.
struct CountRequest {
  std::string device;  ///< as open_device takes it
  model::ProblemPlan plan;
  model::KernelBinary reference;
  struct Item {
    model::VariantPlan plan;
    model::KernelBinary binary;

    static constexpr bool kStrict = true;
    static void fields(auto& self, auto&& field) {
      field("plan", self.plan);
      field("binary", self.binary);
    }
  };
  std::vector<Item> variants;

  static constexpr bool kStrict = true;
  static void fields(auto& self, auto&& field) {
    field("device", self.device);
    field("plan", self.plan);
    field("reference", self.reference);
    field("variants", self.variants);
  }
};

/// What was counted, a record a variant. Where counters cannot be had at all, every record says why, with the remedy,
/// and `forbidden` is set: other problems would say the same.
struct CountAnswer {
  std::vector<model::TrafficRecord> traffic;
  bool forbidden = false;
};

CountAnswer count_traffic(const CountRequest& request, double deadline_s);
/// kRejected where counters cannot be had.
model::Result<device::EvictionProof> count_eviction(const std::string& device, double deadline_s);

/// "reads 33.6 MB (model 33.6), writes 33.5 MB (model 33.6)", or why not.
std::string traffic_text(const model::TrafficRecord& traffic, const model::Cost& cost);

/// Body of the hidden command: one request from stdin, one answer to stdout. Returns an exit code.
int counters_worker_main();

}  // namespace ktune::probe
