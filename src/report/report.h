#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "model/record.h"

namespace ktune::report {

/// The ops whose problems are the ceiling. To report other ops with one, give make_report their dataset too.
inline constexpr std::array<std::string_view, 4> kCeilingOps{"copy", "read", "write", "triad"};

/// One line of a report: the winner of a problem in the newest session that has it, or one trial with --all.
/// An optional without a value is null in JSON and "–" in tables, never 0.
struct Row {
  std::string op;
  model::Problem problem;
  std::string device;
  model::Variant variant;  ///< empty → null: nothing was measured
  model::Variant default_variant;
  std::string outcome;  ///< "Measured", or another outcome's name (--all); "" → null: nothing measured
  std::optional<double> time_us, ci_low_us, ci_high_us, ci_level;
  std::optional<int> n;
  std::string timer, cache_state;  ///< "" → null
  std::optional<std::int64_t> bytes, bytes_read, bytes_written;
  std::optional<double> gbps, pct_spec, pct_ceiling, floor_us, pct_floor;
  std::optional<int> launches;  ///< the fewest that a variant of the op needs for one call
  std::optional<std::int64_t> dram_read, dram_written, default_dram_read, default_dram_written;  ///< counted, bytes
  std::optional<double> dram_ratio;     ///< what was counted over the least traffic
  std::vector<model::Variant> tie_set;  ///< variants that cannot be told from the winner, itself included
  double power_limit_w = 0.0;           ///< of the device; not in JSON, only tells ceilings apart
  std::optional<double> default_time_us, speedup_vs_default;
  std::int64_t enumerated = 0, rejected = 0, measured = 0, not_visited = 0, reused = 0;
  std::map<std::string, std::int64_t> failed;  ///< by outcome
  std::int64_t session = 0, trial = 0;         ///< trial 0 → null: nothing measured
  std::string spec_hash, commit, driver, toolkit, date;
  std::vector<std::string> warnings;  ///< of the time shown; with --all, why a trial failed
};

/// Variants that failed, by whatever outcome.
std::int64_t failed_of(const Row& row);

struct Report {
  std::vector<Row> rows;           ///< by op, device, timer, cache state, dtype, sizes; with --all fastest first
  std::vector<std::string> notes;  ///< "no ceiling for …"
  bool all = false;                ///< a row is a trial, not a winner
};

/// Where moving the bytes takes less than this many times t0, the time is the launch's: latency-bound.
inline constexpr double kLatencyFactor = 2.0;
/// A rate above this share of the ceiling cannot be the memory's alone: L2-absorbed.
inline constexpr double kAbsorbedPct = 102.0;
/// What a warm or a graph's run moves has to be this many times L2, or it is cache-resident.
inline constexpr int kResidentL2 = 2;
/// Counted traffic is held against the model's above this many times L2, and flagged outside these ratios.
inline constexpr int kTrafficL2 = 4;
inline constexpr double kLeastTraffic = 0.9, kMostTraffic = 1.1;

/// Winners by problem from the newest session that has each (one for each timer and cache state, model::NewestPick),
/// or every trial (`all`). A CPU or fake device's rows never mix with a GPU's: grouped by device.
///
/// The winner is the one that the sweep named; where it named none, the finalist with the lowest time of the second
/// timing, or, where nothing was timed twice, the
/// fastest trial (with a warning: its time took part in choosing). The default's time is of the same timing if it has
/// one. Counts leave finals out, and enumerated = rejected + measured + Σ failed + not_visited.
///
/// Ceilings come from the fits of `ktune roofline` (of the same device, driver, power limit, timer and cache state, and
/// of as many launches as the op needs), else from kCeilingOps of the same device, driver, timer and cache state, in
/// `dataset` and `ceilings` (which adds no rows): the best rate of the matching read:write mix, interpolated in time
/// per byte between measured mixes. The floor is t0 + bytes/B fitted to that mix's problems (at least three sizes).
Report make_report(const model::Dataset& dataset, bool all, const model::Dataset& ceilings = {});

/// What a report can be printed as: the formats of every document, and its own JSON.
const std::vector<Format<Report>>& formats();

/// The inverse of the json format. Throws Error(kUsage) for another schema, a newer one, or broken JSON.
Report parse_report(const std::string& json, const std::string& where);

/// `report --explain OP PROBLEM`: what failed or was rejected and why. Records of its JSON, schema ktune.explain/1:
/// "problems" with their counts, "rejections", "failures"; CSV holds the failures. `problem` is as model::matches takes
/// it: "M=4096 N=4096 bf16", "4096x4096", "bf16"; "" is every problem of the op. Needs every trial (Store::load).
/// Throws Error(kNoData) when no such problem was swept.
Document explain(const model::Dataset& dataset, const std::string& op, const std::string& problem);

}  // namespace ktune::report
