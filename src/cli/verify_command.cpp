#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/process.h"
#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/number_in.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/stderr_notices.h"
#include "probe/compile_check.h"
#include "spec/spec.h"
#include "sweep/check.h"

namespace ktune::cli {

namespace {

struct VerifyOptions {
  sweep::Selection selection;
  sweep::Options sweep;
  std::string device = "auto";
  bool all_ops = false;
  bool all_variants = false;
  bool default_only = false;
  bool sanitize = false;
  bool verbose = false;
  bool compile_only = false;
  bool mix_ups = false;
  int seeds = 1;  ///< so many, from the options' seed on
  std::vector<std::string> targets{"sm_90", "sm_80", "sm_100", "sm_120"};
  Output output;
};

struct Tally {
  std::int64_t checked = 0, wrong = 0;
  std::int64_t failed = 0;  ///< did not come to a result: rejected, failed to compile or launch, crashed, timed out
  double worst_margin = 0.0;
};

/// First lines of a log, indented, for under a failure.
std::string excerpt(const std::string& detail, std::size_t lines) {
  std::string text;
  for (const std::string& line : split(detail, '\n')) {
    if (line.empty()) continue;
    if (lines-- == 0) break;
    text += "      " + line + "\n";
  }
  return text;
}

/// A table and "N passed, M failed" below it, unless the run was interrupted or nothing was checked.
void print_passed(const char* schema, const char* title, Table table, std::int64_t passed, std::int64_t failed,
                  const Output& output) {
  Document document;
  document.schema = schema;
  document.title = title;
  document.sections.push_back({"", {}, std::move(table), {}});
  if (!interrupted() && passed + failed > 0) document.summary = fmt::format("{} passed, {} failed", passed, failed);
  deliver(output, document_formats(), document);
}

/// Each problem with each seed from its own on.
std::vector<sweep::SharedProblem> with_seeds(const std::vector<sweep::SharedProblem>& prepared, int seeds) {
  std::vector<sweep::SharedProblem> all;
  for (const sweep::SharedProblem& problem : prepared) {
    all.push_back(problem);
    for (int i = 1; i < seeds; ++i) {
      auto other = std::make_shared<sweep::PreparedProblem>(*problem);
      other->plan.seed += static_cast<std::uint64_t>(i);
      all.push_back(std::move(other));
    }
  }
  return all;
}

/// By op and problem.
using Tallies = std::map<std::pair<std::string, std::string>, Tally>;

int conclude(const std::vector<sweep::SharedProblem>& prepared, const Tallies& tallies, const Output& output) {
  Table table{{{"op", false, 0},
               {"problem", false, 0},
               {"variants", true, 0},
               {"wrong", true, 0},
               {"worst margin", true, 1},
               {"failed", true, 0}},
              {}};
  std::int64_t checked = 0, wrong = 0;
  for (const auto& problem : prepared) {
    const auto at = tallies.find({problem->spec->name, problem->problem.text()});
    if (at == tallies.end()) continue;
    table.rows.push_back({problem->spec->name, problem->problem.text(), at->second.checked, at->second.wrong,
                          Cell::number(at->second.worst_margin, fmt::format("{:.3f}", at->second.worst_margin)),
                          at->second.failed});
    checked += at->second.checked;
    wrong += at->second.wrong + at->second.failed;
  }
  print_passed("ktune.verify/1", "ktune verify", std::move(table), checked - wrong, wrong, output);
  if (interrupted()) throw Error(ErrorKind::kInterrupted, "interrupted; not every variant was checked");
  if (checked == 0) throw Error(ErrorKind::kNoData, "nothing was verified");
  return wrong == 0 ? 0 : 1;
}

int conclude(const std::vector<probe::CompileTally>& tallies, const Output& output) {
  Table table{{{"op", false, 0},
               {"target", false, 0},
               {"compiled", true, 0},
               {"failed", true, 0},
               {"spilling", true, 0},
               {"most registers", true, 1}},
              {}};
  std::int64_t passed = 0, failed = 0;
  for (const probe::CompileTally& tally : tallies) {
    table.rows.push_back({tally.op, tally.target, tally.compiled, tally.failed, tally.spilling, tally.most_registers});
    passed += tally.compiled;
    failed += tally.failed;
  }
  print_passed("ktune.compile-check/1", "ktune verify --compile-only", std::move(table), passed, failed, output);
  if (interrupted()) throw Error(ErrorKind::kInterrupted, "interrupted; not everything was compiled");
  if (passed + failed == 0) throw Error(ErrorKind::kNoData, "nothing was compiled");
  return failed == 0 ? 0 : 1;
}

int run_verify(VerifyOptions& options) {
  check_output(options.output, document_formats(), inputs_of(options.selection, options.device, ""));
  if (options.all_ops)
    for (const std::string& name : spec::shipped_ops()) options.selection.ops.push_back(name);
  if (options.compile_only) {
    sweep::check_selection(options.selection);
    return conclude(probe::check_compiles(options.selection, options.sweep, options.targets, stderr_notices()),
                    options.output);
  }
  if (options.sanitize) {
    if (options.device != "auto" && options.device != "cpu")
      throw Error(ErrorKind::kUsage, "--sanitize checks on the CPU device only",
                  "on a GPU run `ktune run` under compute-sanitizer");
    options.device = "cpu-sanitize";
  }
  sweep::check_selection(options.selection);
  const model::DeviceFacts facts = sweep::device_facts(options.device, stderr_notices());
  const auto work = sweep::resolve_selection(options.selection, "verify");
  options.sweep.device = options.device;
  const auto prepared = sweep::prepare(work, facts, options.sweep.seed);
  const auto scope = options.mix_ups        ? sweep::CheckScope::kMixUps
                     : options.all_variants ? sweep::CheckScope::kAll
                     : options.default_only ? sweep::CheckScope::kDefault
                                            : sweep::CheckScope::kSome;
  std::int64_t total = 0;
  for (const auto& problem : prepared) total += options.seeds * sweep::count_checks(*problem, scope);
  print_log("device    {} ({}), {}\nplan      {} problem{}, {} variant{} to verify{}\n", facts.name, options.device,
            facts.toolkit, prepared.size(), prepared.size() == 1 ? "" : "s", total, total == 1 ? "" : "s",
            options.seeds == 1 ? "" : fmt::format(" with {} seeds", options.seeds));
  Tallies tallies;
  std::int64_t done = 0;
  ProgressLine line;
  sweep::check(with_seeds(prepared, options.seeds), facts, options.sweep, scope, [&](const sweep::CheckResult& result) {
    Tally& tally = tallies[{result.prepared->spec->name, result.prepared->problem.text()}];
    ++tally.checked;
    tally.worst_margin = std::max(tally.worst_margin, result.margin);
    const std::string what =
        fmt::format("{} {} {}", result.prepared->spec->name, result.prepared->problem.text(), result.variant.text());
    if (result.outcome != model::Outcome::kMeasured) {
      ++(result.outcome == model::Outcome::kWrongResult ? tally.wrong : tally.failed);
      const std::string seed = options.seeds == 1 ? "" : fmt::format(" seed {}", result.prepared->plan.seed);
      line.print(fmt::format("{}: {}{}: {}\n{}", name_of(result.outcome), what, seed, result.reason,
                             excerpt(result.detail, 12)));
    } else if (options.verbose) {
      line.print(result.mix_up.empty() ? fmt::format("right: {} (margin {:.3f})", what, result.margin)
                                       : fmt::format("found: {} with {}", what, result.mix_up));
    }
    line.update(fmt::format("{}/{} verified  {} {}", ++done, total, result.prepared->spec->name,
                            result.prepared->problem.text()));
  });
  line.clear();
  return conclude(prepared, tallies, options.output);
}

}  // namespace

std::function<int()> setup_verify(CLI::App& app, const model::Provenance&) {
  auto options = std::make_shared<VerifyOptions>();
  add_space(app, options->selection);
  app.add_flag("--all-ops", options->all_ops, "Every op that comes with ktune");
  add_device_option(app, options->device);
  auto* all = app.add_flag("--all-variants", options->all_variants,
                           "Every variant (without it: the default and one of each named path)");
  app.add_flag("--default-only", options->default_only, "Only the default variant")->excludes(all);
  app.add_flag("--mix-ups", options->mix_ups,
               "The default, and then with each pair of its operands of one dtype swapped: passes where that is found")
      ->excludes(all);
  app.add_flag("--sanitize", options->sanitize, "On the CPU device, with address and undefined-behaviour sanitizers");
  app.add_flag("--compile-only", options->compile_only,
               "Run nothing: compile by NVRTC for each --arch, with or without a GPU");
  CLI::Option* arch = add_arch_option(app, options->targets, "Architectures of --compile-only: sm_80,sm_90,…");
  CLI::Option* target =
      app.add_option("--target", options->targets, "As --arch, its older name")->delimiter(',')->group("");
  add_output(app, options->output, document_formats());
  app.add_flag("--verbose", options->verbose, "Also list what is right");
  app.add_option("--jobs", options->sweep.jobs, "Compile processes (0: one a core)")->check(CLI::Range(0, 1024));
  app.add_option("--seed", options->sweep.seed, "Seed of the inputs")->check(is_seed());
  app.add_option("--seeds", options->seeds, "Verify with so many seeds, from --seed on")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  app.add_option("--trial-deadline", options->sweep.trial_deadline_s, "Seconds after which a verification is killed")
      ->capture_default_str()
      ->check(number_in(0.1, 1e6));
  app.add_option("--compile-deadline", options->sweep.compile_deadline_s, "Seconds after which a compile is killed")
      ->capture_default_str()
      ->check(number_in(0.1, 1e6));
  return [options, arch, target] {
    // Not by CLI11's excludes(), whose message leaves out the name of a hidden option.
    if (arch->count() > 0 && target->count() > 0)
      throw Error(ErrorKind::kUsage, "--target excludes --arch",
                  "--target is an older name of --arch: give one of them");
    return run_verify(*options);
  };
}

}  // namespace ktune::cli
