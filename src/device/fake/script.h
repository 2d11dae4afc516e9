#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "device/device.h"
#include "model/facts.h"
#include "model/timing.h"

// What a fake device plays, read from a JSON file:
//
//   {"facts": {"name": "Fake H200", "uuid": "FAKE-1", "memory_bytes": 1000000000},
//    "seed": 1,
//    "timers": ["script"],
//    "states": [{"sm_clock_mhz": 1980, "other_processes": 1}],
//    "processes": {"counter": "count.tmp", "sd_us": 0.06, "sd_pct": 0.03},
//    "default": {"time_us": 10, "sd_us": 0.1},
//    "trials": [
//      {"match": {"op": "rmsnorm", "problem": "M=4096", "variant": {"num_warps": 8, "LOADER": "ldg"}},
//       "time_us": 12.5, "sd_us": 0.05},
//      {"match": {"variant": {"num_warps": 32}}, "add_us": 3},
//      {"match": {"variant": "BLOCK_SIZE=512,num_warps=4"}, "outcome": "WrongResult", "fault": "unwritten"},
//      {"match": {"op": "sticky"}, "outcome": "Crashed", "at": "time", "reason": "…"}]}
//
// A match's "problem" is a piece of Problem::text() or a regular expression found in it; its "variant" is the whole
// text or some of its parameters. What is left out matches everything. The first match that gives times or an outcome
// decides; "add_us" of every match adds up, so that a landscape needs one row a parameter value. "times_us" is a list
// that is played round and round. The reference is never matched.
//
// "processes": each process that opens the script is one more in the counter's file, and by its number each variant has
// an offset of its own in it: normal, of sd_us + sd_pct of its time.
//
// Outcomes: Rejected (by the check of its launches), CompileFailed (at load), LaunchFailed, WrongResult, Crashed (the
// process dies by SIGSEGV), Sticky (the launch fails and everything after it, as with an illegal address on a GPU) and
// hang. "at" says when: "launch" (the default; load and check for the first two) or "time", only while being timed. The
// fault of a WrongResult: "mismatch" (the default), "unwritten", "overrun" or "input".

namespace ktune::device {

/// What a variant does.
struct ScriptedTrial {
  enum class Outcome { kRight, kRejected, kCompileFailed, kLaunchFailed, kWrongResult, kCrashed, kSticky, kHang };
  enum class Fault { kMismatch, kUnwritten, kOverrun, kInput };
  Outcome outcome = Outcome::kRight;
  Fault fault = Fault::kMismatch;
  bool only_timed = false;
  std::string reason;
  std::vector<double> times_us;  ///< played in turn; one: the centre of a normal distribution
  double sd_us = 0.0;
  double add_us = 0.0;
};

struct ScriptMatch {
  std::string op;
  std::string problem;
  std::regex problem_regex;
  std::string variant_text;
  std::map<std::string, std::string> variant;

  bool matches(const std::string& op_name, const std::string& problem_text,
               const std::map<std::string, std::string>& values, const std::string& text) const;
};

struct ScriptEntry {
  ScriptMatch match;
  std::optional<ScriptedTrial> trial;  ///< nothing: the entry only adds time
  double add_us = 0.0;
};

/// What one process differs by from the next.
struct ScriptedProcess {
  std::uint64_t number = 0;  ///< 0: not counted
  double sd_us = 0.0;
  double sd_pct = 0.0;
};

struct Script {
  model::DeviceFacts facts;
  std::uint64_t seed = 1;
  std::vector<model::Timer> timers;
  std::vector<model::MachineState> states;  ///< answered in turn, the last for ever
  ScriptedProcess process;
  ScriptedTrial fallback;
  std::vector<ScriptEntry> entries;
  std::optional<DramTraffic> dram;  ///< what every call moves
  std::string no_counters;          ///< why it cannot be counted
  std::string no_counters_remedy;

  /// What the variant does; the reference (an empty variant) is always right.
  ScriptedTrial play(const std::string& op, const std::string& problem, const std::string& variant) const;
};

/// Throws Error(kUsage) naming the file and the field that is wrong.
Script read_script(const std::string& path);

}  // namespace ktune::device
