#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "compile/compile.h"
#include "spec/spec.h"
#include "store/store.h"
#include "trial/build.h"

namespace ktune::cli {

namespace {

struct ShowOptions {
  std::int64_t trial = 0;
  std::string db;
  std::string config;
  bool ptx = false;
  bool sass = false;
  bool log = false;
};

void print_trial(const model::TrialRecord& trial) {
  fmt::print("trial      {}{}\nop         {} {}\nvariant    {}{}\noutcome    {}{}\n", trial.id,
             trial.is_final ? " (a finalist's second timing)" : "", trial.op, trial.problem_text, trial.variant.text(),
             trial.is_default ? " (the default)" : "", name_of(trial.outcome),
             trial.reason.empty() ? "" : ": " + trial.reason);
  if (trial.outcome == model::Outcome::kMeasured)
    fmt::print(
        "time       {} (median of {}, {:.0f} % interval {} to {}, p10 {}, p90 {})\ntimer      {}, cache {}\n"
        "verified   worst difference {:.3f} of the tolerance\n",
        format_time_us(trial.timing.time_us), trial.timing.n, 100.0 * trial.timing.ci_level,
        format_time_us(trial.timing.ci_low_us), format_time_us(trial.timing.ci_high_us),
        format_time_us(trial.timing.p10_us), format_time_us(trial.timing.p90_us), name_of(trial.samples.timer),
        name_of(trial.samples.cache_state), trial.verify_margin);
  for (const auto& [kernel, resources] : trial.resources) {
    if (resources.registers < 0) continue;  // a host compiler does not say
    fmt::print("kernel     {}: {} registers, {} B shared, {} B local, {} B spilled\n", kernel, resources.registers,
               resources.shared_bytes, resources.local_bytes, resources.spill_store_bytes + resources.spill_load_bytes);
  }
  for (const std::string& warning : trial.warnings) fmt::print("warning    {}\n", warning);
  fmt::print("date       {}\nsession    {}\n", trial.date, trial.session);
  for (const auto& [part, value] : trial.fingerprint_parts) fmt::print("depends on {} = {}\n", part, value);
}

const model::Problem& problem_of(const model::Dataset& dataset, const model::TrialRecord& trial) {
  for (const auto& problem : dataset.problems)
    if (problem.op == trial.op && problem.problem.text() == trial.problem_text) return problem.problem;
  throw Error(ErrorKind::kNoData, fmt::format("trial {} has no problem in this database", trial.id));
}

/// The compile of a recorded trial, from the op's files as they are now.
compile::CompileJob job_of(const ShowOptions& options, store::Store& store, const model::TrialRecord& trial) {
  store::Filter filter;
  filter.session = trial.session;
  const model::Dataset dataset = store.load(filter);
  if (dataset.sessions.empty())
    throw Error(ErrorKind::kNoData, fmt::format("session {} is not in {}", trial.session, store.path()));
  const model::OpSpec spec = options.config.empty() ? spec::load_shipped_op(trial.op) : spec::load_op(options.config);
  for (const auto& [name, value] : trial.variant.values) {
    const auto known = std::find_if(spec.params.begin(), spec.params.end(),
                                    [&](const model::Parameter& param) { return param.name == name; });
    if (known == spec.params.end() || trial.variant.values.size() != spec.params.size())
      throw Error(ErrorKind::kUsage,
                  fmt::format("trial {} has other parameters than {} has now", trial.id, spec.spec_path),
                  "give --config with the TOML that it was swept with");
  }
  const auto job =
      trial::variant_job(spec, problem_of(dataset, trial), trial.variant, dataset.sessions.front().device, 60.0);
  if (!trial.binary_key.empty() && compile::cache_key(job) != trial.binary_key)
    fmt::print(stderr, "note: the op's files or the compiler changed since trial {}: this is what they give now\n",
               trial.id);
  return job;
}

int run_show(const ShowOptions& options) {
  store::Store store(db_path(options.db), store::Store::Mode::kRead);
  const auto trial = store.load_trial(options.trial);
  if (!trial)
    throw Error(ErrorKind::kNoData, fmt::format("no trial {} in {}", options.trial, store.path()),
                "`ktune report --all` lists the trials");
  if (options.log) {
    const auto binary = compile::compile_one(job_of(options, store, *trial), compile::binaries_dir());
    const std::string log = binary ? binary->log : binary.error().detail;
    std::fputs((log.empty() ? "(the compiler said nothing)\n" : log).c_str(), stdout);
  } else if (options.ptx) {
    std::fputs(compile::ptx_of(job_of(options, store, *trial)).c_str(), stdout);
  } else if (options.sass) {
    const auto binary = compile::compile_one(job_of(options, store, *trial), compile::binaries_dir());
    if (!binary)
      throw Error(ErrorKind::kNo, "it does not compile: " + binary.error().reason,
                  "`ktune show TRIAL --log` prints the log");
    std::fputs(compile::sass_of(*binary).c_str(), stdout);
  } else {
    print_trial(*trial);
    if (!trial->detail.empty()) fmt::print("detail\n{}\n", trial->detail);
  }
  return 0;
}

}  // namespace

std::function<int()> setup_show(CLI::App& app, const model::Provenance&) {
  auto options = std::make_shared<ShowOptions>();
  app.add_option("trial", options->trial, "Trial's number, as `ktune report --all` lists it")->required();
  add_db_option(app, options->db);
  app.add_option("--config", options->config, "The op's TOML, for an op that does not come with ktune");
  auto* ptx = app.add_flag("--ptx", options->ptx, "Its PTX");
  auto* sass = app.add_flag("--sass", options->sass, "Its machine code (needs nvdisasm or cuobjdump)")->excludes(ptx);
  app.add_flag("--log", options->log, "The compiler's log")->excludes(ptx)->excludes(sass);
  return [options] { return run_show(*options); };
}

}  // namespace ktune::cli
