#include "verdict/baseline.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>

#include "base/error.h"

namespace ktune::verdict {

namespace {

std::string switch_text(int value) { return value < 0 ? "unknown" : value == 0 ? "off" : "on"; }

/// One field of the key as text: what is compared is what is said.
struct KeyField {
  std::string_view name;
  std::string (*text)(const BaselineKey&);
};

constexpr std::array<KeyField, 11> kKeyFields{{
    {"device", [](const BaselineKey& key) { return key.device; }},
    {"SM count", [](const BaselineKey& key) { return std::to_string(key.sm_count); }},
    {"L2 bytes", [](const BaselineKey& key) { return std::to_string(key.l2_bytes); }},
    {"memory bus", [](const BaselineKey& key) { return fmt::format("{} bit", key.bus_bits); }},
    {"ECC", [](const BaselineKey& key) { return switch_text(key.ecc); }},
    {"MIG", [](const BaselineKey& key) { return switch_text(key.mig); }},
    {"power limit", [](const BaselineKey& key) { return fmt::format("{:.0f} W", key.power_limit_w); }},
    {"driver", [](const BaselineKey& key) { return key.driver; }},
    {"toolkit", [](const BaselineKey& key) { return key.toolkit; }},
    {"cache state", [](const BaselineKey& key) { return key.cache_state; }},
    {"measurement protocol", [](const BaselineKey& key) { return std::to_string(key.protocol); }},
}};

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::kUsage, fmt::format("{}: {}", where, what),
              "restore the file from version control, or make a new one with `ktune baseline save`");
}

bool positive(double value) { return std::isfinite(value) && value > 0.0; }

void check_entry(const BaselineKernel& kernel, const HistoryEntry& entry, const std::string& where) {
  const auto figure = [&](const char* field, double value) {
    if (!positive(value))
      refuse(where, fmt::format("{}: {} of {} is {}, not a positive number", kernel.name(), field, entry.date, value));
  };
  figure("ratio", entry.ratio);
  figure("kernel_us", entry.kernel_us);
  figure("control_us", entry.control_us);
  if (!std::isfinite(entry.process_sd_pct) || entry.process_sd_pct < 0.0)
    refuse(where, fmt::format("{}: process_sd_pct of {} is {}", kernel.name(), entry.date, entry.process_sd_pct));
  if (entry.processes < 1)
    refuse(where, fmt::format("{}: {} processes on {}", kernel.name(), entry.processes, entry.date));
}

}  // namespace

BaselineKey key_of(const model::DeviceFacts& facts, std::string_view cache_state, int protocol) {
  BaselineKey key;
  key.device = facts.name;
  key.sm_count = facts.sm_count;
  key.l2_bytes = facts.l2_bytes;
  key.bus_bits = facts.bus_bits;
  key.ecc = facts.ecc;
  key.mig = facts.mig;
  key.power_limit_w = facts.power_limit_w;
  key.driver = facts.driver;
  key.toolkit = facts.toolkit;
  key.cache_state = cache_state;
  key.protocol = protocol;
  return key;
}

std::optional<std::string> differs(const BaselineKey& stored, const BaselineKey& here) {
  const auto shown = [](const std::string& text) { return text.empty() ? "(none)" : text; };
  for (const KeyField& field : kKeyFields)
    if (field.text(stored) != field.text(here))
      return fmt::format("{}: {} in the baseline, {} here", field.name, shown(field.text(stored)),
                         shown(field.text(here)));
  return std::nullopt;
}

std::string BaselineKernel::name() const { return fmt::format("{} {} [{}]", op, problem.text(), variant); }

const BaselineKernel* Baseline::find(std::string_view op, std::string_view problem, std::string_view variant) const {
  for (const BaselineKernel& kernel : kernels)
    if (kernel.op == op && kernel.variant == variant && kernel.problem.text() == problem) return &kernel;
  return nullptr;
}

void check_baseline(const Baseline& baseline, const std::string& where) {
  if (baseline.kernels.empty()) refuse(where, "it has no kernels");
  std::set<std::string> names;
  for (const BaselineKernel& kernel : baseline.kernels) {
    if (kernel.op.empty() || kernel.timer.empty() || kernel.control.problem.op.empty())
      refuse(where, fmt::format("{}: op, timer or control is missing", kernel.name()));
    if (!names.insert(kernel.name()).second) refuse(where, kernel.name() + " is in it twice");
    if (kernel.history.empty()) refuse(where, kernel.name() + " has no history");
    for (const HistoryEntry& entry : kernel.history) check_entry(kernel, entry, where);
  }
}

}  // namespace ktune::verdict
