#include "device/fake/script.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/error.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "model/json.h"

namespace ktune::device {
namespace {

using Json = model::Json;
using Outcome = ScriptedTrial::Outcome;
using Fault = ScriptedTrial::Fault;

constexpr std::array<std::pair<std::string_view, Outcome>, 8> kOutcomes{{
    {"Measured", Outcome::kRight},
    {"Rejected", Outcome::kRejected},
    {"CompileFailed", Outcome::kCompileFailed},
    {"LaunchFailed", Outcome::kLaunchFailed},
    {"WrongResult", Outcome::kWrongResult},
    {"Crashed", Outcome::kCrashed},
    {"Sticky", Outcome::kSticky},
    {"hang", Outcome::kHang},
}};

constexpr std::array<std::pair<std::string_view, Fault>, 4> kFaults{{
    {"mismatch", Fault::kMismatch},
    {"unwritten", Fault::kUnwritten},
    {"overrun", Fault::kOverrun},
    {"input", Fault::kInput},
}};

[[noreturn]] void wrong(const std::string& message, const std::string& hint = {}) {
  throw Error(ErrorKind::kUsage, message, hint);
}

template <typename T, std::size_t N>
T choose(const std::array<std::pair<std::string_view, T>, N>& table, const std::string& name, std::string_view field) {
  std::vector<std::string> names;
  for (const auto& [key, value] : table) {
    if (key == name) return value;
    names.emplace_back(key);
  }
  wrong(fmt::format("\"{}\" cannot be \"{}\"{}", field, name, did_you_mean(name, names)),
        fmt::format("one of {}", join(names, ", ")));
}

void only_fields(const Json& json, std::string_view where, const std::vector<std::string>& known) {
  if (!json.is_object()) wrong(fmt::format("\"{}\" must be an object", where));
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      wrong(fmt::format("unknown field \"{}\" in \"{}\"{}", key, where, did_you_mean(key, known)),
            "known: " + join(known, ", "));
    }
  }
}

model::DeviceFacts default_facts() {
  model::DeviceFacts facts;
  facts.kind = "fake";
  facts.name = "Fake device";
  facts.target = "fake";
  facts.sm = 90;
  facts.sm_count = 132;
  facts.l2_bytes = std::int64_t{60} << 20;
  facts.smem_optin = 227 * 1024;
  facts.max_threads = 1024;
  facts.registers_per_sm = 65536;
  facts.memory_bytes = std::int64_t{140} << 30;
  facts.spec_gbps = 4800.0;
  facts.driver = "fake";
  facts.toolkit = "fake";
  return facts;
}

const std::vector<std::string> kTrialFields{"match",   "time_us", "times_us", "sd_us", "add_us",
                                            "outcome", "fault",   "at",       "reason"};

ScriptedTrial read_trial(const Json& json, const ScriptedTrial& fallback) {
  ScriptedTrial trial;
  trial.times_us = fallback.times_us;
  trial.sd_us = fallback.sd_us;
  if (json.contains("time_us")) trial.times_us = {json.at("time_us").get<double>()};
  if (json.contains("times_us")) {
    trial.times_us = json.at("times_us").get<std::vector<double>>();
    trial.sd_us = 0.0;
  }
  if (trial.times_us.empty()) wrong("\"times_us\" is empty");
  trial.sd_us = json.value("sd_us", trial.sd_us);
  if (!(trial.sd_us >= 0.0)) wrong(fmt::format("\"sd_us\" cannot be {}", trial.sd_us));
  for (const double time_us : trial.times_us)
    if (!(time_us > 0.0)) wrong(fmt::format("a time of {} µs cannot be", time_us));
  if (json.contains("outcome")) trial.outcome = choose(kOutcomes, json.at("outcome").get<std::string>(), "outcome");
  if (json.contains("fault")) trial.fault = choose(kFaults, json.at("fault").get<std::string>(), "fault");
  const std::string at = json.value("at", std::string("launch"));
  if (at != "launch" && at != "time") wrong(fmt::format("\"at\" cannot be \"{}\"", at), "one of launch, time");
  trial.only_timed = at == "time";
  trial.reason = json.value("reason", std::string());
  return trial;
}

std::string value_text(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

ScriptMatch read_match(const Json& json) {
  only_fields(json, "match", {"op", "problem", "variant"});
  ScriptMatch match;
  match.op = json.value("op", std::string());
  match.problem = json.value("problem", std::string());
  match.problem_regex = std::regex(match.problem);
  if (!json.contains("variant")) return match;
  const Json& variant = json.at("variant");
  if (variant.is_string()) {
    match.variant_text = variant.get<std::string>();
  } else {
    for (const auto& [name, value] : variant.items()) match.variant[name] = value_text(value);
  }
  return match;
}

std::map<std::string, std::string> parse_variant_text(const std::string& text) {
  std::map<std::string, std::string> values;
  for (const std::string& part : split(text, ',')) {
    const std::size_t equal = part.find('=');
    if (equal != std::string::npos) values[part.substr(0, equal)] = part.substr(equal + 1);
  }
  return values;
}

void read_entries(const Json& trials, Script& script) {
  if (!trials.is_array()) wrong("\"trials\" must be a list");
  for (const Json& json : trials) {
    only_fields(json, "trials", kTrialFields);
    ScriptEntry entry;
    if (json.contains("match")) entry.match = read_match(json.at("match"));
    entry.add_us = json.value("add_us", 0.0);
    if (!(entry.add_us >= 0.0)) wrong(fmt::format("\"add_us\" cannot be {}: it is time", entry.add_us));
    if (json.contains("time_us") || json.contains("times_us") || json.contains("outcome") || json.contains("sd_us")) {
      entry.trial = read_trial(json, script.fallback);
    }
    script.entries.push_back(std::move(entry));
  }
}

/// {"read": bytes, "written": bytes}, or {"forbidden": why, "remedy": what to do}.
void read_dram(const Json& json, Script& script) {
  only_fields(json, "dram", {"read", "written", "forbidden", "remedy"});
  script.no_counters = json.value("forbidden", "");
  script.no_counters_remedy = json.value("remedy", "");
  if (script.no_counters.empty()) script.dram = json.get<DramTraffic>();
}

/// One more byte in the file is one more process; appends of several processes do not get lost.
std::uint64_t count_process(const std::string& counter) {
  const Fd file(::open(counter.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (file.get() < 0 || ::write(file.get(), ".", 1) != 1) wrong("\"counter\": " + counter + " cannot be written");
  return static_cast<std::uint64_t>(::lseek(file.get(), 0, SEEK_CUR));
}

void read_process(const Json& json, Script& script) {
  only_fields(json, "processes", {"counter", "sd_us", "sd_pct"});
  script.process.number = count_process(json.at("counter").get<std::string>());
  script.process.sd_us = json.value("sd_us", 0.0);
  script.process.sd_pct = json.value("sd_pct", 0.0);
}

/// A normal number that belongs to a text (Box-Muller).
double normal_of(const std::string& text, std::uint64_t seed) {
  const double u = (static_cast<double>(hash_64(text, seed) >> 11) + 1.0) * 0x1p-53;
  const double v = static_cast<double>(hash_64(text + "2", seed) >> 11) * 0x1p-53;
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

Script parse_script(const Json& json) {
  only_fields(json, "script", {"facts", "seed", "timers", "states", "processes", "default", "trials", "dram"});
  Script script;
  Json facts = default_facts();
  if (json.contains("facts")) {
    if (!json.at("facts").is_object()) wrong("\"facts\" must be an object");
    std::vector<std::string> known;
    for (const auto& [key, value] : facts.items()) known.push_back(key);
    only_fields(json.at("facts"), "facts", known);
    for (const auto& [key, value] : json.at("facts").items())
      if (value.is_number() && value.get<double>() < 0.0) wrong(fmt::format("\"{}\" cannot be {}", key, value.dump()));
    facts.update(json.at("facts"));
  }
  script.facts = facts.get<model::DeviceFacts>();
  script.seed = json.value("seed", std::uint64_t{1});
  for (const std::string& name : json.value("timers", std::vector<std::string>{"script"})) {
    const std::optional<model::Timer> timer = model::parse_timer(name);
    if (!timer) wrong(fmt::format("unknown timer \"{}\"", name));
    script.timers.push_back(*timer);
  }
  if (json.contains("states")) script.states = json.at("states").get<std::vector<model::MachineState>>();
  if (json.contains("processes")) read_process(json.at("processes"), script);
  script.fallback.times_us = {10.0};
  if (json.contains("default")) {
    only_fields(json.at("default"), "default", kTrialFields);
    script.fallback = read_trial(json.at("default"), script.fallback);
  }
  if (json.contains("dram")) read_dram(json.at("dram"), script);
  if (json.contains("trials")) read_entries(json.at("trials"), script);
  return script;
}

}  // namespace

bool ScriptMatch::matches(const std::string& op_name, const std::string& problem_text,
                          const std::map<std::string, std::string>& values, const std::string& text) const {
  if (!op.empty() && op != op_name) return false;
  if (!problem.empty() && problem_text.find(problem) == std::string::npos &&
      !std::regex_search(problem_text, problem_regex)) {
    return false;
  }
  if (!variant_text.empty() && variant_text != text) return false;
  for (const auto& [name, value] : variant) {
    const auto found = values.find(name);
    if (found == values.end() || found->second != value) return false;
  }
  return true;
}

ScriptedTrial Script::play(const std::string& op, const std::string& problem, const std::string& variant) const {
  if (variant.empty()) {
    ScriptedTrial right;
    right.times_us = fallback.times_us;
    return right;
  }
  const std::map<std::string, std::string> values = parse_variant_text(variant);
  std::optional<ScriptedTrial> decided;
  double add_us = 0.0;
  for (const ScriptEntry& entry : entries) {
    if (!entry.match.matches(op, problem, values, variant)) continue;
    add_us += entry.add_us;
    if (!decided) decided = entry.trial;
  }
  ScriptedTrial trial = decided.value_or(fallback);
  trial.add_us = add_us;
  const double sd_us = process.sd_us + process.sd_pct / 100.0 * trial.times_us.front();
  if (process.number > 0 && sd_us > 0.0)
    trial.add_us += sd_us * normal_of(fmt::format("{}\n{}\n{}\n{}", op, problem, variant, process.number), seed);
  return trial;
}

Script read_script(const std::string& path) {
  const std::string text = read_file(path);
  try {
    return parse_script(Json::parse(text));
  } catch (const Error& error) {
    throw Error(error.kind(), "the fake device's script: " + error.message(), error.hint(), path);
  } catch (const std::exception& error) {
    throw Error(ErrorKind::kUsage, std::string("the fake device's script: ") + error.what(), {}, path);
  }
}

}  // namespace ktune::device
