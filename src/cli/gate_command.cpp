#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/clock_option.h"
#include "cli/commands.h"
#include "cli/number_in.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/stderr_notices.h"
#include "cli/timer_option.h"
#include "gate/paired_gate.h"
#include "gate/static_gate.h"
#include "gate/stored_gate.h"
#include "verdict/formats.h"

namespace ktune::cli {

namespace {

struct GateOptions {
  gate::PairedGateOptions paired;
  gate::StoredGateOptions stored;
  gate::StaticGate compiled;
  bool is_static = false;
  std::string device = "auto";
  std::string cache = "cold";
  std::string variant = "default";  ///< of revisions, folders and spec files
  std::string inconclusive = "fail";
  Output output;
  std::string from;
  std::string db;
  int clock_mhz = 0;
};

std::string format_help() {
  std::string text = ":";
  for (const auto& format : verdict::formats()) text += fmt::format("\n{}: {}", format.name, format.summary);
  return text;
}

void add_static_options(CLI::App& app, bool& is_static, gate::StaticGate& options) {
  app.add_flag("--static", is_static,
               "Time nothing and need no device: compile both sides for each --arch and compare what the compiler made "
               "of every default and winner. REGRESSED: spills that appear or grow; registers or shared memory that "
               "grow so that fewer threads fit a multiprocessor; global accesses that narrow (of 128 bits, or of "
               "base's widest); more instructions than --max-instructions lets by. WRONG: it or its reference does not "
               "compile. Smaller "
               "changes are notes. Needs nvdisasm or cuobjdump where code or launches differ");
  add_arch_option(app, options.targets, "Architectures of --static: sm_80,sm_90,…");
  app.add_option("--max-instructions", options.rules.max_instructions_pct,
                 "Of --static: so many percent more instructions are let by")
      ->capture_default_str()
      ->check(number_in(0.0, 1e6));
}

void add_stored_gate(CLI::App& app, gate::StoredGateOptions& options) {
  app.add_option("--baseline", options.baseline,
                 "Compare the working tree with a stored baseline (`ktune baseline save`) by ratios to a copy timed in "
                 "the same process; needs no base build")
      ->excludes("--base")
      ->excludes("--new")
      ->excludes("--aa")
      ->excludes("--from")
      ->excludes("--variant");
  app.add_option("--processes", options.processes, "With --baseline: processes a round")
      ->capture_default_str()
      ->check(CLI::Range(verdict::kFewestProcesses, 1000));
  app.add_flag("--update", options.update, "With --baseline: append a passing run to its history")->needs("--baseline");
}

/// An option that one way to gate does not use is refused there: it would not do what its user means.
void refuse_unused_options(CLI::App& app) {
  for (const char* option : {"--arch", "--max-instructions"}) app.get_option(option)->needs("--static");
  app.get_option("--processes")->needs("--baseline");
  for (const char* option : {"--pairs", "--time-identical"})
    for (const char* mode : {"--static", "--baseline", "--from"}) app.get_option(option)->excludes(mode);
  for (const char* option :
       {"--device", "--delta", "--delta-us", "--cache", "--timer", "--kernel-ms", "--seed", "--lock-clocks"})
    for (const char* mode : {"--static", "--from"}) app.get_option(option)->excludes(mode);
  app.get_option("--db")->excludes("--baseline");
  for (const char* option : {"--db", "--variant", "--jobs"}) app.get_option(option)->excludes("--from");
}

void bind_options(CLI::App& app, GateOptions& options) {
  app.add_option("--base", options.paired.base,
                 "What is compared with: a git revision, a folder with kernels and configs, FILE.toml, a variant "
                 "(NAME=V,… or default), winner or winner:SESSION");
  app.add_option("--new", options.paired.candidate, "What is judged, named in the same ways; . is the working tree")
      ->default_str(".");
  auto* self = app.add_flag("--aa", options.paired.self,
                            "Compare --base (default: the working tree) with itself: the noise of this device, kept in "
                            "the database for later gates");
  app.add_option("--from", options.from, "Print the result of an earlier gate again (its --format json)")
      ->excludes(self);
  add_problems(app, options.paired.selection);
  add_variant_option(app, options.variant);
  add_device_option(app, options.device);
  add_db_option(app, options.db);
  add_stored_gate(app, options.stored);
  app.add_option("--pairs", options.paired.rules.pairs, "Pairs of processes a round (K)")
      ->capture_default_str()
      ->check(CLI::Range(6, 1000));  // fewer never reach alpha: 1 / 2^5 > 0.02
  app.add_option("--delta", options.paired.rules.delta_pct, "A shift that matters, % …")->capture_default_str();
  app.add_option("--delta-us", options.paired.rules.delta_us, "… or microseconds, whichever is more")
      ->capture_default_str();
  app.add_flag("--time-identical", options.paired.time_identical,
               "Time also the kernels whose machine code, launches and inputs are the same on both sides");
  app.add_option("--inconclusive", options.inconclusive, "What an INCONCLUSIVE verdict does: fail or pass")
      ->capture_default_str();
  app.add_option("--cache", options.cache, "State of L2 at each timed launch: cold, dirty, warm")
      ->capture_default_str();
  add_timer_option(app, options.paired.process.timer, "base decides, kernel by kernel");
  app.add_option("--kernel-ms", options.paired.process.kernel_ms, "Sampling time of a kernel in a process, ms")
      ->capture_default_str()
      ->check(number_in(0.1, 1e6));
  app.add_option("--jobs", options.paired.process.jobs, "Compile processes (0: one a core)")
      ->check(CLI::Range(0, 1024));
  app.add_option("--seed", options.paired.seed, "Of the order of processes and kernels")
      ->capture_default_str()
      ->check(is_seed());
  add_clock_option(app, options.clock_mhz);
  add_static_options(app, options.is_static, options.compiled);
  add_output(app, options.output, format_help());
  refuse_unused_options(app);
}

/// What can be told before a device is opened.
void check_names(const GateOptions& options) {
  std::vector<std::string> inputs = inputs_of(options.paired.selection, options.device, db_path(options.db));
  inputs.insert(inputs.end(), {options.from, options.stored.baseline, options.paired.base, options.paired.candidate});
  check_output(options.output, verdict::formats(), inputs);
  if (options.paired.self && !options.paired.candidate.empty())
    throw Error(ErrorKind::kUsage, "--aa compares --base with itself: there is no --new", "leave one of them out");
  for (const std::string& format : options.output.formats())
    if (options.is_static && format.starts_with("gbench"))
      throw Error(ErrorKind::kUsage, fmt::format("--static has no times for {} to show", format),
                  "use md, json or junit");
  const auto is_variant = [](const std::string& side) { return sweep::read_variant_choice(side).has_value(); };
  if (options.variant != "default" && is_variant(options.paired.base) && is_variant(options.paired.candidate))
    throw Error(ErrorKind::kUsage, "--variant is for revisions, folders and spec files: --base and --new name variants",
                "leave --variant out");
  sweep::cache_state_of(options.cache);
  verdict::check(options.paired.rules);
  if (options.inconclusive != "fail" && options.inconclusive != "pass")
    throw Error(ErrorKind::kUsage, fmt::format("unknown --inconclusive '{}'", options.inconclusive), "fail or pass");
  const sweep::Selection& selection = options.paired.selection;
  const bool asks_more = !options.paired.base.empty() || !options.paired.candidate.empty() || options.is_static ||
                         !options.stored.baseline.empty() || !selection.ops.empty() || !selection.configs.empty() ||
                         !selection.shapes.empty() || !selection.dtypes.empty() || !selection.attrs.empty();
  if (!options.from.empty() && asks_more)
    throw Error(ErrorKind::kUsage, "--from prints what was measured before: it takes no --base, --new, ops or shapes",
                "leave one of them out");
  if (options.from.empty() && options.paired.base.empty() && !options.paired.self && options.stored.baseline.empty())
    throw Error(ErrorKind::kUsage, "gate needs something to compare with",
                "--base REF (a git revision, a spec file, a variant, winner), --baseline FILE, or --aa");
}

/// A dashboard asks for every kernel; what had not to be timed has nothing to show there.
void note_untimed(const verdict::Result& result, const GateOptions& options) {
  const std::vector<std::string> formats = options.output.formats();
  const bool gbench = std::any_of(formats.begin(), formats.end(),
                                  [](const std::string& format) { return format.starts_with("gbench"); });
  const auto identical =
      std::count_if(result.rows.begin(), result.rows.end(), [](const verdict::Row& row) { return row.identical; });
  if (gbench && identical > 0)
    print_log(
        "note: {} kernel{} with the same machine code {} not timed, so gbench does not hold {}: "
        "--time-identical times them all\n",
        identical, identical == 1 ? "" : "s", identical == 1 ? "was" : "were", identical == 1 ? "it" : "them");
}

/// Throws `unkept` when everything is out.
int conclude(verdict::Result result, const GateOptions& options, std::optional<Error> unkept = {}) {
  result.pass_inconclusive = result.pass_inconclusive || options.inconclusive == "pass";
  note_untimed(result, options);
  deliver(options.output, verdict::formats(), result, std::move(unkept));
  return verdict::exit_code_of(result.verdict, result.pass_inconclusive);
}

/// A runner whose driver broke must not pass for a GPU.
model::DeviceFacts gate_device(GateOptions& options) {
  const bool chosen = options.device != "auto";
  model::DeviceFacts facts = sweep::device_facts(options.device, options.paired.notices);
  if (!chosen && facts.kind == "cpu")
    print_log("warning   no GPU was found, the CPU device is timed: say --device cuda:0 where there has to be one\n");
  return facts;
}

/// What both modes are told by the same options. A baseline brings its cache state, so that only one asked for counts.
int run_stored(GateOptions& options, bool cache_asked) {
  gate::StoredGateOptions& stored = options.stored;
  const gate::PairedGateOptions& paired = options.paired;
  stored.selection = paired.selection;
  stored.cache = cache_asked ? options.cache : "";
  stored.timer = paired.process.timer;
  stored.kernel_ms = paired.process.kernel_ms;
  stored.jobs = paired.process.jobs;
  stored.seed = paired.seed;
  stored.provenance = paired.provenance;
  stored.notices = paired.notices;
  stored.pass_inconclusive = options.inconclusive == "pass";
  stored.rules.least_pct = paired.rules.delta_pct;
  stored.rules.first_pct = std::max(stored.rules.first_pct, paired.rules.delta_pct);
  stored.rules.delta_us = paired.rules.delta_us;
  gate::check_stored_gate(stored);
  const model::DeviceFacts facts = gate_device(options);
  stored.device = options.device;
  const HeldClock held(options.clock_mhz, facts);
  std::optional<Error> unkept;
  verdict::Result result = gate::run_stored_gate(stored, facts, unkept);
  return conclude(std::move(result), options, unkept);
}

verdict::Result run_static(GateOptions& options) {
  if (options.paired.self || !options.stored.baseline.empty())
    throw Error(ErrorKind::kUsage, "--static compares two versions and times nothing: no --aa, no --baseline",
                "leave one of them out");
  options.compiled.base = options.paired.base;
  options.compiled.candidate = options.paired.candidate;
  options.compiled.selection = options.paired.selection;
  options.compiled.variant = options.paired.variant;
  options.compiled.database = options.paired.database;
  options.compiled.database_named = !options.db.empty();
  options.compiled.provenance = options.paired.provenance;
  options.compiled.jobs = options.paired.process.jobs;
  return gate::run_static_gate(options.compiled);
}

int run_gate(GateOptions& options, bool cache_asked) {
  check_names(options);
  options.paired.variant = sweep::parse_variant_choice(options.variant);
  if (!options.from.empty()) return conclude(verdict::parse_result(read_file(options.from), options.from), options);
  if (!options.stored.baseline.empty() && !options.is_static) return run_stored(options, cache_asked);
  if (options.paired.self && options.paired.base.empty()) options.paired.base = ".";
  if (options.paired.candidate.empty()) options.paired.candidate = ".";
  options.paired.database = db_path(options.db);
  if (options.is_static) return conclude(run_static(options), options);
  options.paired.process.cache_state = sweep::cache_state_of(options.cache);
  const model::DeviceFacts facts = gate_device(options);
  options.paired.process.device = options.device;
  options.paired.process.expected = facts;
  sweep::check_timer(options.device, options.paired.process.timer);
  const HeldClock held(options.clock_mhz, facts);
  std::optional<Error> unkept;
  verdict::Result result = gate::run_paired_gate(options.paired, facts, unkept);
  return conclude(std::move(result), options, unkept);
}

}  // namespace

std::function<int()> setup_gate(CLI::App& app, const model::Provenance& provenance) {
  auto options = std::make_shared<GateOptions>();
  options->paired.provenance = provenance;
  bind_options(app, *options);
  return [options, &app] {
    options->paired.notices = stderr_notices();
    return run_gate(*options, app.count("--cache") > 0);
  };
}

}  // namespace ktune::cli
