#include "cli/selection.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdio>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "device/device.h"
#include "spec/spec.h"
#include "trial/worker.h"

namespace ktune::cli {

namespace {

std::string g_command_line;

/// Quoted for a shell when it needs to be.
std::string shell_word(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string("-_./=,:+@%").find(static_cast<char>(c)) != std::string::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::vector<std::pair<std::string, std::string>> parse_attrs(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::string>> attrs;
  for (const std::string& text : texts) {
    const auto at = text.find('=');
    if (at == std::string::npos || at == 0)
      throw Error(ErrorKind::kUsage, fmt::format("--attr {}: expected NAME=VALUE", text),
                  "for example --attr cast_mode=gemma");
    attrs.emplace_back(text.substr(0, at), text.substr(at + 1));
  }
  return attrs;
}

}  // namespace

spec::ProblemRequest request_of(const Selection& selection, const std::string& use) {
  spec::ProblemRequest request;
  request.shapes = selection.shapes;
  request.dtypes = selection.dtypes;
  request.attrs = parse_attrs(selection.attrs);
  request.use = use;
  return request;
}

std::string use_of(const model::OpSpec& spec, const std::string& use) {
  const auto is_for = [&](const model::ProblemSpec& problem) {
    return std::find(problem.use.begin(), problem.use.end(), use) != problem.use.end();
  };
  return use == "bench" && std::none_of(spec.problems.begin(), spec.problems.end(), is_for) ? "sweep" : use;
}

namespace {

sweep::Work make_work(const Selection& selection, const model::OpSpec& full, const std::string& use) {
  sweep::Work work;
  work.full = full;
  work.spec = spec::narrow(full, selection.params);
  work.problems = spec::select_problems(full, request_of(selection, use_of(full, use)));
  if (work.problems.empty())
    throw Error(ErrorKind::kUsage, fmt::format("{}: no problem to work on", full.name),
                fmt::format("give --shape, or add a [[problem]] with use = [\"{}\"] to {}", use, full.spec_path));
  return work;
}

Error no_op_named() {
  return Error(ErrorKind::kUsage, "no op named",
               "give --op NAME (`ktune ops` lists them) or --config FILE.toml for an op of your own");
}

}  // namespace

void add_selection(CLI::App& app, Selection& selection, bool with_plan) {
  app.add_option("--op", selection.ops, "An op that comes with ktune (repeatable; `ktune ops` lists them)");
  app.add_option("--config", selection.configs, "An op's own TOML, anywhere on disk (repeatable)");
  if (with_plan)
    app.add_option("--plan", selection.plans, "A plan over ops and problems, as in configs/sweeps (repeatable)");
  app.add_option("--shape", selection.shapes,
                 "Sizes: 4096x4096, or named: M=4096,N=4096 (repeatable; default: the spec's own problems)");
  app.add_option("--dtype", selection.dtypes, "bf16, or by type macro: scalar_t=bf16,weight_t=f32 (repeatable)");
  app.add_option("--attr", selection.attrs, "Attribute of the problem: NAME=VALUE (repeatable)");
  app.add_option("--param", selection.params, "Narrow a parameter: NAME=V1,V2 (repeatable)");
}

void check_selection(const Selection& selection) {
  std::vector<model::OpSpec> specs;
  for (const std::string& op : selection.ops) specs.push_back(spec::load_shipped_op(op));
  for (const std::string& config : selection.configs) specs.push_back(spec::load_op(config));
  for (const model::OpSpec& spec : specs) {
    spec::narrow(spec, selection.params);
    if (!selection.shapes.empty()) spec::select_problems(spec, request_of(selection, ""));
  }
  for (const std::string& plan : selection.plans) spec::load_plan(plan);
  if (specs.empty() && selection.plans.empty()) throw no_op_named();
}

std::vector<sweep::Work> resolve_selection(const Selection& selection, const std::string& use) {
  std::vector<sweep::Work> work;
  for (const std::string& op : selection.ops) work.push_back(make_work(selection, spec::load_shipped_op(op), use));
  for (const std::string& config : selection.configs) work.push_back(make_work(selection, spec::load_op(config), use));
  for (const std::string& plan : selection.plans)
    for (spec::PlanEntry& entry : spec::load_plan(plan)) {
      sweep::Work item;
      item.full = spec::load_op(entry.spec.spec_path);
      item.spec = spec::narrow(std::move(entry.spec), selection.params);
      item.problems = std::move(entry.problems);
      work.push_back(std::move(item));
    }
  if (work.empty()) throw no_op_named();
  return work;
}

void add_device_option(CLI::App& app, std::string& device) {
  app.add_option("--device", device, "auto, cuda:N, cpu, cpu-sanitize or fake:FILE")->capture_default_str();
}

model::DeviceFacts device_facts(std::string& device) {
  device = device::resolve_device_name(device);
  trial::Worker worker(device);
  model::DeviceFacts facts = worker.facts();
  if (facts.spec_gbps <= 0.0)  // a virtual machine may hide the clock
    if (const auto peak = spec::peak_of(spec::device_peaks(), facts.name)) facts.spec_gbps = peak->gbps;
  if (facts.mig == 1)
    fmt::print(stderr,
               "note      {} is a MIG slice: its neighbours share its clocks and power, and it has no DRAM counters\n",
               facts.name);
  if (const int others = worker.state().other_processes; others > 0)
    fmt::print(stderr, "warning   {} other process{} on {}: times will be noisy\n", others,
               others == 1 ? " is computing" : "es are computing", facts.name);
  return facts;
}

void check_timer_name(const std::string& timer) {
  if (timer == "auto" || model::parse_timer(timer)) return;
  const std::vector<std::string> timers{"auto", "events", "cupti", "graph", "host", "script"};
  throw Error(ErrorKind::kUsage, fmt::format("unknown timer '{}'{}", timer, did_you_mean(timer, timers)),
              "one of " + join(timers, ", "));
}

void check_timer(const std::string& device, const std::string& timer) {
  check_timer_name(timer);
  if (timer == "auto") return;
  if (const model::Status there = trial::Worker(device).check_timer(timer); !there)
    throw Error(ErrorKind::kEnvironment,
                fmt::format("the timer {} cannot be used here: {}", timer, there.error().reason),
                "`ktune doctor --selftest` tries them all; --timer auto takes what works");
}

model::CacheState cache_state_of(const std::string& name) {
  if (const auto state = model::parse_cache_state(name)) return *state;
  const std::vector<std::string> known{"cold", "dirty", "warm"};
  throw Error(ErrorKind::kUsage, fmt::format("unknown cache state '{}'{}", name, did_you_mean(name, known)),
              "one of cold, dirty, warm");
}

std::string sweep_use(const model::DeviceFacts& facts) { return facts.kind == "cpu" ? "cpu" : "sweep"; }

void add_db_option(CLI::App& app, std::string& path) {
  app.add_option("--db", path, "Database (default: ktune.db in the per-user data folder, $KTUNE_DATA_DIR)");
}

std::string db_path(const std::string& option) { return option.empty() ? (data_dir() / "ktune.db").string() : option; }

void set_command_line(int argc, char** argv) {
  std::vector<std::string> words{"ktune"};
  for (int i = 1; i < argc; ++i) words.push_back(shell_word(argv[i]));
  g_command_line = join(words, " ");
}

std::string command_line() { return g_command_line; }

}  // namespace ktune::cli
