#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/facts.h"
#include "model/op_spec.h"

// A baseline file: what the stored gate compares with. It is meant to be committed and reviewed, so it is text, in one
// order, an entry of a history a line.

namespace ktune::verdict {

inline constexpr std::string_view kBaselineSchema = "ktune.baseline/1";
inline constexpr std::string_view kBaselineFamily = "ktune.baseline/";  ///< what the schema of any version begins with
/// Entries of one history that are kept; older ones are dropped.
inline constexpr std::size_t kKeptEntries = 50;

/// What must be the same for figures to be compared at all; the timer is each kernel's own.
struct BaselineKey {
  std::string device;  ///< DeviceFacts::name
  int sm_count = 0;
  std::int64_t l2_bytes = 0;
  int bus_bits = 0;
  int ecc = -1;  ///< 1 on, 0 off, −1 unknown
  int mig = -1;
  double power_limit_w = 0.0;
  std::string driver;
  std::string toolkit;      ///< NVRTC or host compiler
  std::string cache_state;  ///< "cold", …
  int protocol = 0;         ///< measure::kMeasurementProtocol

  static constexpr bool kStrict = true;
  static void fields(auto& self, auto&& field) {
    field("device", self.device);
    field("sm_count", self.sm_count);
    field("l2_bytes", self.l2_bytes);
    field("bus_bits", self.bus_bits);
    field("ecc", self.ecc);
    field("mig", self.mig);
    field("power_limit_w", self.power_limit_w);
    field("driver", self.driver);
    field("toolkit", self.toolkit);
    field("cache_state", self.cache_state);
    field("protocol", self.protocol);
  }
};
BaselineKey key_of(const model::DeviceFacts& facts, std::string_view cache_state, int protocol);

/// The first field that differs, with both values: "driver: 580.159 in the baseline, 590.1 here". Nothing: comparable.
std::optional<std::string> differs(const BaselineKey& stored, const BaselineKey& here);

/// One run of one kernel beside its control, over all its processes.
struct HistoryEntry {
  std::string date;             ///< UTC
  std::string commit;           ///< of the kernels' tree, "" outside git
  double ratio = 0.0;           ///< kernel over control: Hodges-Lehmann estimate over the processes
  double kernel_us = 0.0;       ///< median of the processes
  double control_us = 0.0;      ///< the same of the control
  double process_sd_pct = 0.0;  ///< sd of the ratio from process to process
  int processes = 0;

  static constexpr bool kStrict = true;
  static void fields(auto& self, auto&& field) {
    field("date", self.date);
    field("commit", self.commit);
    field("ratio", self.ratio);
    field("kernel_us", self.kernel_us);
    field("control_us", self.control_us);
    field("process_sd_pct", self.process_sd_pct);
    field("processes", self.processes);
  }
};

/// What a kernel is divided by: the copy of the same footprint.
struct Control {
  model::Problem problem;
  std::string variant;    ///< Variant::text()
  std::string code_hash;  ///< of the machine code, "" where it is not known

  static constexpr bool kStrict = true;
  static void fields(auto& self, auto&& field) {
    field("problem", self.problem);
    field("variant", self.variant);
    field("code_hash", self.code_hash);
  }
};

/// What the path of an op's spec begins at: a baseline is compared with the tree that one is in, not with the one it
/// was made of.
enum class SpecRoot : std::uint8_t {
  kKtune,       ///< the folder with ktune's own kernels
  kRepository,  ///< the top of the git work tree
  kFolder,      ///< the baseline's folder: the spec was in no repository
};
std::string_view name_of(SpecRoot root);  ///< "ktune", "repository", "folder"
std::optional<SpecRoot> parse_as(SpecRoot, std::string_view name);

struct BaselineKernel {
  std::string op;
  model::Problem problem;
  std::string variant;  ///< Variant::text()
  SpecRoot root = SpecRoot::kKtune;
  std::string spec;    ///< the op's TOML, from there
  std::string source;  ///< the kernel's file, for annotations
  std::string timer;
  std::string code_hash;
  Control control;
  std::vector<HistoryEntry> history;  ///< oldest first, never empty in a file

  /// "rmsnorm M=4096 N=4096 bf16 [BLOCK_SIZE=4096,num_warps=8]": unique in a baseline.
  std::string name() const;
  static constexpr bool kStrict = true;
  static void fields(auto& self, auto&& field) {
    field("op", self.op);
    field("problem", self.problem);
    field("variant", self.variant);
    field("root", self.root);
    field("spec", self.spec);
    field("source", self.source);
    field("timer", self.timer);
    field("code_hash", self.code_hash);
    field("control", self.control);
    field("history", self.history);
  }
};

struct Baseline {
  BaselineKey key;
  std::vector<BaselineKernel> kernels;

  /// Nothing where it has none.
  const BaselineKernel* find(std::string_view op, std::string_view problem, std::string_view variant) const;
  static constexpr bool kStrict = true;
  static void fields(auto& self, auto&& field) {
    field("key", self.key);
    field("kernels", self.kernels);
  }
};

/// Throws Error(kUsage) naming `where` and what is wrong: no kernels, one twice, a kernel without history, a figure
/// that is not a positive finite number.
void check_baseline(const Baseline& baseline, const std::string& where);

/// The file's text, with the checksum of its content. The same baseline gives the same bytes.
std::string baseline_text(const Baseline& baseline);
/// "xxh3-128:…" over the content: the state of the baseline that a run was judged against.
std::string checksum_of(const Baseline& baseline);
/// Throws Error(kUsage) naming `where`: not JSON (truncated), another schema, a checksum that does not match (edited by
/// hand), whatever check_baseline refuses.
Baseline parse_baseline(std::string_view text, const std::string& where);

}  // namespace ktune::verdict
