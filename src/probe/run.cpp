#include "probe/run.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "compile/builtin_code.h"
#include "compile/compile.h"
#include "device/device.h"
#include "expr/resolve.h"
#include "model/json.h"
#include "probe/counters.h"
#include "trial/build.h"
#include "trial/device_trial.h"

// One trial in this very process: a profiler, compute-sanitizer or a debugger attached to it sees the kernel and not
// the machinery around it. It is the worker's trial (trial/device_trial.h) without the worker.

namespace ktune::probe {
namespace {

constexpr double kCountDeadlineS = 300.0;

[[noreturn]] void stop(const std::string& what, const model::Failure& failure) {
  throw Error(ErrorKind::kNo, fmt::format("{}: {}: {}", what, name_of(failure.outcome), failure.reason),
              failure.detail);
}

template <typename T>
T value_or_stop(const std::string& what, model::Result<T> result) {
  if (!result) stop(what, result.error());
  return std::move(*result);
}

void check_status(const std::string& what, const model::Status& status) {
  if (!status) stop(what, status.error());
}

/// What a variant is loaded and launched from.
struct Compiled {
  model::KernelBinary reference, binary;
  model::VariantPlan plan;
};

/// The kernels as a file, and beside it what launches them: another program can time the very same code.
void keep(const RunOptions& options, const sweep::PreparedProblem& prepared, const Compiled& compiled) {
  std::vector<model::TensorPlan> tensors = prepared.plan.tensors;
  tensors.insert(tensors.end(), compiled.plan.scratch.begin(), compiled.plan.scratch.end());
  const model::Json json{{"tensors", tensors}, {"launches", compiled.plan.launches}};
  write_file(options.keep_binary, read_file(compiled.binary.path));
  write_file(options.keep_binary + ".json", json.dump(1) + "\n");
  options.notices.say(fmt::format("binary    {0}, its launches in {0}.json", options.keep_binary));
}

Compiled compile_trial(const RunOptions& options, const sweep::PreparedProblem& prepared, const model::Variant& variant,
                       const model::DeviceFacts& facts) {
  const std::string cache = compile::binaries_dir();
  const auto reference_job = trial::reference_job(*prepared.full, prepared.problem, prepared.default_variant, facts,
                                                  options.compile_deadline_s);
  const auto job = trial::variant_job(*prepared.full, prepared.problem, variant, facts, options.compile_deadline_s);
  Compiled compiled;
  compiled.reference = value_or_stop("reference", compile::compile_one(reference_job, cache));
  compiled.binary = value_or_stop("compile", compile::compile_one(job, cache));
  for (const auto& [kernel, resources] : compiled.binary.resources) {
    if (resources.registers < 0) continue;  // a host compiler does not say
    options.notices.say(fmt::format("kernel    {}: {} registers, {} B shared, {} B local", kernel, resources.registers,
                                    resources.shared_bytes, resources.local_bytes));
  }
  compiled.plan = expr::require_variant(*prepared.full, prepared.problem, prepared.scope, variant);
  if (!options.keep_binary.empty()) keep(options, prepared, compiled);
  return compiled;
}

std::optional<measure::Measurement> run_trial(const RunOptions& options, const model::ProblemPlan& plan,
                                              const Compiled& compiled, device::Device& device) {
  const EndsAtInterrupt scope;  // a launch or a sampling loop may take minutes, and the device keeps nothing
  const auto problem = value_or_stop("reference", trial::TrialProblem::set_up(device, plan, compiled.reference));
  const auto trial = value_or_stop("load", trial::Trial::load(*problem, compiled.plan, compiled.binary));
  const auto report = value_or_stop("verify", trial->verify());
  if (!report.ok) stop("verify", {model::Outcome::kWrongResult, report.reason, {}});
  options.notices.say(fmt::format("verified  worst difference {:.3f} of the tolerance", report.margin));
  if (options.launches > 0) {
    check_status("launch", trial->launch(options.launches));
    options.notices.say(fmt::format("launched  {} more times", options.launches));
    return std::nullopt;
  }
  if (options.evicted_launches > 0) {
    check_status("launch", trial->launch_evicted(options.evicted_launches, options.request));
    options.notices.say(fmt::format("launched  {} more times, {} L2 before each", options.evicted_launches,
                                    name_of(options.request.cache_state)));
    return std::nullopt;
  }
  return value_or_stop("measure", trial->measure(options.request));
}

model::Variant chosen_variant(const RunOptions& options, const sweep::PreparedProblem& prepared,
                              const std::string& device) {
  const auto winners = sweep::winners_of(options.variant, options.database, device);
  const sweep::ChosenVariant chosen = sweep::choose_variant(options.variant, prepared, winners);
  sweep::StandIns stand_ins;
  stand_ins.add(prepared, chosen);
  for (const std::string& note : stand_ins.notes()) options.notices.say("note      " + note);
  return chosen.variant;
}

}  // namespace

RunResult run(const RunOptions& options) {
  const auto device = compile::open_device(options.device);
  sweep::require_timer(options.request.timer, trial::check_timer(*device, options.request.timer));
  const auto work = sweep::resolve_selection(options.selection, sweep::sweep_use(device->facts()));
  const auto problems = sweep::prepare(work, device->facts(), 0);
  if (problems.size() != 1)
    throw Error(ErrorKind::kUsage, fmt::format("run takes one problem, this names {}", problems.size()),
                "give one --op, one --shape and one --dtype");
  const sweep::PreparedProblem& prepared = *problems.front();
  const model::Variant variant = chosen_variant(options, prepared, device->facts().name);
  options.notices.say(fmt::format("device    {} ({})", device->facts().name, options.device));
  options.notices.say(fmt::format("problem   {} {}", prepared.spec->name, prepared.problem.text()));
  options.notices.say(
      fmt::format("variant   {}{}", variant.text(), variant == prepared.default_variant ? " (the default)" : ""));
  const Compiled compiled = compile_trial(options, prepared, variant, device->facts());
  RunResult result;
  result.cost = prepared.cost;
  result.timed = run_trial(options, prepared.plan, compiled, *device);
  if (!options.counters || options.evicted_launches > 0) return result;
  const CountAnswer answer = count_traffic(
      {options.device, prepared.plan, compiled.reference, {{compiled.plan, compiled.binary}}}, kCountDeadlineS);
  result.counted = answer.traffic.front();
  return result;
}

}  // namespace ktune::probe
