#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/facts.h"
#include "model/op_spec.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "model/timing.h"

// What the store keeps and what report, gate and export see. Trials are never updated. `fields` are the columns of a
// row, those that need more than their value (ids, a variant's two forms, a timing that may be none) aside.

namespace ktune::model {

/// One `ktune sweep`.
struct SessionRecord {
  std::int64_t id = 0;
  std::string date;     ///< UTC, "2026-11-29T14:03:05Z"
  std::string command;  ///< as typed, for the resume hint and provenance
  std::string version;  ///< ktune's
  std::string commit;   ///< ktune's own, "unknown" outside git
  DeviceFacts device;
  bool complete = false;  ///< false: interrupted or running

  static void fields(auto& self, auto&& field) {
    field("date", self.date);
    field("command", self.command);
    field("version", self.version);
    field("commit_hash", self.commit);
    field("device", self.device);
    field("complete", self.complete);
  }
};

/// One problem of a session: how the space was accounted for.
/// enumerated = rejected + Σ trials by outcome + not_visited, always.
struct ProblemRecord {
  std::int64_t id = 0;
  std::int64_t session = 0;
  std::string op;
  std::string spec_hash;
  std::string source_hash;
  Problem problem;
  Variant default_variant;
  Cost cost;
  std::int64_t enumerated = 0;                   ///< points of the raw product
  std::map<std::string, std::int64_t> rejected;  ///< by the constraint's `why` (or "same variant as another")
  std::int64_t not_visited = 0;
  std::int64_t reused = 0;  ///< trials taken over from an earlier session, counted in their outcome too
  /// Trials by outcome's name, finals aside, where the dataset holds only the trials a report shows (see
  /// Store::load_latest). Empty: the dataset holds every trial, count those.
  std::map<std::string, std::int64_t> outcomes;
  Variant winner;                ///< no values: none was named (nothing measured, or a database of before)
  std::vector<Variant> tie_set;  ///< the variants that cannot be told from the best; the winner is one of them
  std::string timer;             ///< what `auto` decided for this problem, "" where a timer was named

  static void fields(auto& self, auto&& field) {
    field("op", self.op);
    field("problem", self.problem);
    field("default_variant", self.default_variant);
    field("cost", self.cost);
    field("spec_hash", self.spec_hash);
    field("source_hash", self.source_hash);
    counts(self, field);
  }
  /// What is known once the problem is swept.
  static void counts(auto& self, auto&& field) {
    field("enumerated", self.enumerated);
    field("rejected", self.rejected);
    field("not_visited", self.not_visited);
    field("reused", self.reused);
    field("winner", self.winner, {.since = 2});
    field("tie_set", self.tie_set, {.since = 2});
    field("decided_timer", self.timer, {.since = 2});
  }
};

/// t(bytes) = t0 + bytes / rate, fitted to a ladder of sizes of one read:write mix on one device.
struct FitRecord {
  std::string device;  ///< DeviceFacts::name
  std::string driver;
  double power_limit_w = 0.0;
  double read_fraction = 0.0;  ///< bytes read / bytes moved: 1 read, 0 write, 0.5 copy, 2/3, 1/3, 1/5
  CacheState cache_state = CacheState::kCold;
  Timer timer = Timer::kEvents;
  int launches = 1;  ///< of one call
  double t0_us = 0.0;
  double gbps = 0.0;          ///< the asymptotic rate
  double ceiling_gbps = 0.0;  ///< the best rate measured at any size of the ladder
  double worst_residual_pct = 0.0;
  std::vector<std::pair<std::int64_t, double>> points;  ///< bytes, microseconds
  std::string date;
  std::string commit;

  static void fields(auto& self, auto&& field) {
    field("device", self.device);
    field("driver", self.driver);
    field("power_limit_w", self.power_limit_w);
    field("read_fraction", self.read_fraction);
    field("cache_state", self.cache_state);
    field("timer", self.timer);
    field("launches", self.launches);
    field("t0_us", self.t0_us);
    field("gbps", self.gbps);
    field("ceiling_gbps", self.ceiling_gbps);
    field("worst_residual_pct", self.worst_residual_pct);
    field("points", self.points);
    field("date", self.date);
    field("commit_hash", self.commit);
  }
};

/// DRAM traffic of one call, from hardware counters in a process of its own; nothing about its time.
struct TrafficRecord {
  std::int64_t dram_read = -1;     ///< bytes; −1: not measured
  std::int64_t dram_written = -1;  ///< bytes, what stayed dirty in L2 included
  std::string why_not;             ///< where they could not be had: cause and remedy

  static void fields(auto& self, auto&& field) {
    field("dram_read", self.dram_read, {.since = 2});
    field("dram_written", self.dram_written, {.since = 2});
    field("traffic_note", self.why_not, {.since = 2});
  }
};

/// The files an op was swept from, kept so that a winner can be built again when its source has moved on. Paths are
/// relative to a folder that holds them all.
struct SourceBundle {
  std::string spec;                                        ///< the path of the TOML
  std::vector<std::pair<std::string, std::string>> files;  ///< path → text; the spec, its source, what they include
};

struct TrialRecord {
  std::int64_t id = 0;
  std::int64_t session = 0;  ///< the session that measured it
  std::int64_t problem = 0;  ///< ProblemRecord::id
  std::string op;
  std::string problem_text;
  Variant variant;
  bool is_default = false;
  bool is_final = false;  ///< the re-timing of a finalist: its samples took no part in choosing
  Outcome outcome = Outcome::kMeasured;
  std::string reason;
  std::string detail;
  bool transient = false;   ///< Failure::transient: never re-used
  std::string fingerprint;  ///< hash of everything this trial depends on: what re-use compares
  std::map<std::string, std::string> fingerprint_parts;  ///< spec, source, variant, device, driver, … → hash or text
  std::string binary_key;
  std::map<std::string, KernelResources> resources;
  double compile_ms = 0.0;
  double verify_margin = 0.0;  ///< worst |out − ref| / (atol + rtol·|ref|); ≤ 1 passes
  std::uint64_t seed = 0;
  TimingSummary timing;
  Samples samples;
  MachineState before;
  MachineState after;
  std::string date;
  std::vector<std::string> warnings;
  TrafficRecord traffic;

  static void fields(auto& self, auto&& field) {
    field("op", self.op);
    field("problem_text", self.problem_text);
    field("is_default", self.is_default);
    field("is_final", self.is_final);
    field("outcome", self.outcome);
    field("reason", self.reason);
    field("date", self.date);
    field("cache_state", self.samples.cache_state);
    field("compile_ms", self.compile_ms);
    field("verify_margin", self.verify_margin);
    field("seed", self.seed);
    field("fingerprint", self.fingerprint);
    field("fingerprint_parts", self.fingerprint_parts);
    field("binary_key", self.binary_key);
    field("resources", self.resources);
    field("state_before", self.before);
    field("state_after", self.after);
    field("warnings", self.warnings);
    TrafficRecord::fields(self.traffic, field);
  }
};

/// Everything report, gate and export need of a set of sessions.
struct Dataset {
  std::vector<SessionRecord> sessions;
  std::vector<ProblemRecord> problems;
  std::vector<TrialRecord> trials;
  std::vector<FitRecord> fits;
};

}  // namespace ktune::model
