#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/clock_option.h"
#include "cli/commands.h"
#include "cli/number_in.h"
#include "cli/options.h"
#include "cli/timer_option.h"
#include "compile/compile.h"
#include "device/device.h"
#include "expr/resolve.h"
#include "measure/measure.h"
#include "model/json.h"
#include "probe/counters.h"
#include "space/space.h"
#include "spec/spec.h"
#include "trial/build.h"
#include "trial/worker.h"
#include "verify/verify.h"

// One trial in this very process: a profiler, compute-sanitizer or a debugger attached to it sees the kernel and not
// the machinery around it. With --launches N nothing is timed: the variant is verified, then launched N times, with
// --evicted-launches N behind an eviction each time.

namespace ktune::cli {

namespace {

struct RunOptions {
  sweep::Selection selection;
  std::string device = "auto";
  std::string variant;
  std::string cache = "cold";
  measure::Request request;
  int launches = 0;
  int evicted_launches = 0;
  std::string keep_binary;
  double compile_deadline_s = 60.0;
  bool counters = false;
  int clock_mhz = 0;
};

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

void print_times(const sweep::PreparedProblem& prepared, const measure::Report& report) {
  const model::TimingSummary timing = measure::summarize(report.samples);
  fmt::print("time      {} (median of {}, {:.0f} % interval {} to {})\n", format_time_us(timing.time_us), timing.n,
             100.0 * timing.ci_level, format_time_us(timing.ci_low_us), format_time_us(timing.ci_high_us));
  fmt::print("figures   median {:.3f} µs, trimmed mean {:.3f} µs, p10 {:.3f} µs, p90 {:.3f} µs\n", timing.time_us,
             timing.mean_us, timing.p10_us, timing.p90_us);
  fmt::print("timer     {}, cache {}\n", name_of(report.samples.timer), name_of(report.samples.cache_state));
  fmt::print("traffic   {:.3f} MB, {:.1f} GB/s\n", static_cast<double>(prepared.cost.bytes()) / 1e6,
             static_cast<double>(prepared.cost.bytes()) / timing.time_us / 1e3);
  for (const std::string& warning : report.warnings) fmt::print("warning   {}\n", warning);
}

/// In a process of its own: this one times.
void print_traffic(const RunOptions& options, const sweep::PreparedProblem& prepared,
                   const model::KernelBinary& reference, const model::VariantPlan& plan,
                   const model::KernelBinary& binary) {
  constexpr double kDeadlineS = 300.0;
  const probe::CountAnswer answer =
      probe::count_traffic({options.device, prepared.plan, reference, {{plan, binary}}}, kDeadlineS);
  fmt::print("counted   {}\n", probe::traffic_text(answer.traffic.front(), prepared.cost));
}

/// A profiler beside this process sees an eviction, the kernel, an eviction, the kernel: what a sample of the timer is.
void launch_evicted(const RunOptions& options, const std::vector<device::LaunchSequence>& rotation,
                    device::Device& device) {
  device::TimingRequest request;
  request.samples = options.evicted_launches;
  request.cache_state = options.request.cache_state;
  request.timer = device.timers().front();
  value_or_stop("launch", device.time(rotation, request));
  fmt::print("launched  {} more times, {} L2 before each\n", options.evicted_launches,
             name_of(options.request.cache_state));
}

/// The kernels as a file, and beside it what launches them: another program can time the very same code.
void keep(const RunOptions& options, const sweep::PreparedProblem& prepared, const model::VariantPlan& plan,
          const model::KernelBinary& binary) {
  std::vector<model::TensorPlan> tensors = prepared.plan.tensors;
  tensors.insert(tensors.end(), plan.scratch.begin(), plan.scratch.end());
  const model::Json json{{"tensors", tensors}, {"launches", plan.launches}};
  write_file(options.keep_binary, read_file(binary.path));
  write_file(options.keep_binary + ".json", json.dump(1) + "\n");
  fmt::print("binary    {}, its launches in {}.json\n", options.keep_binary, options.keep_binary);
}

/// What a variant is loaded and launched from.
struct Compiled {
  model::KernelBinary reference, binary;
  model::VariantPlan plan;
};

Compiled compile_trial(const RunOptions& options, const sweep::PreparedProblem& prepared, const model::Variant& variant,
                       const device::Device& device) {
  const std::string cache = compile::binaries_dir();
  const auto reference = value_or_stop(
      "reference", compile::compile_one(trial::reference_job(*prepared.full, prepared.problem, prepared.default_variant,
                                                             device.facts(), options.compile_deadline_s),
                                        cache));
  const auto binary =
      value_or_stop("compile", compile::compile_one(trial::variant_job(*prepared.full, prepared.problem, variant,
                                                                       device.facts(), options.compile_deadline_s),
                                                    cache));
  for (const auto& [kernel, resources] : binary.resources) {
    if (resources.registers < 0) continue;  // a host compiler does not say
    fmt::print("kernel    {}: {} registers, {} B shared, {} B local\n", kernel, resources.registers,
               resources.shared_bytes, resources.local_bytes);
  }
  const auto plan = expr::resolve_variant(*prepared.full, prepared.problem, prepared.scope, variant);
  if (!options.keep_binary.empty()) keep(options, prepared, plan, binary);
  return {reference, binary, plan};
}

void run_trial(const RunOptions& options, const sweep::PreparedProblem& prepared, const Compiled& compiled,
               device::Device& device) {
  const EndsAtInterrupt scope;  // a launch or a sampling loop may take minutes, and the device keeps nothing
  const auto& [reference, binary, plan] = compiled;
  device.announce(prepared.plan.op, prepared.plan.problem, "");
  const auto reference_module = value_or_stop("reference", device.load(reference));
  auto memory = value_or_stop("reference", verify::ProblemMemory::create(device, prepared.plan, reference_module));
  device.announce(prepared.plan.op, prepared.plan.problem, plan.variant);
  const auto module = value_or_stop("load", device.load(binary));
  const auto loaded = value_or_stop("load", verify::load_variant(*memory, module, plan));
  const auto report = value_or_stop("verify", verify::run_and_inspect(*memory, loaded, 0));
  if (!report.ok) stop("verify", {model::Outcome::kWrongResult, report.reason, {}});
  fmt::print("verified  worst difference {:.3f} of the tolerance\n", report.margin);
  if (options.launches > 0) {
    const auto launches = value_or_stop("launch", verify::launches_on(*memory, loaded, 0));
    for (int i = 0; i < options.launches; ++i) check_status("launch", device.launch(launches));
    check_status("launch", device.synchronize());
    fmt::print("launched  {} more times\n", options.launches);
    return;
  }
  const auto offered = device.timers();
  const auto timer = value_or_stop("timer", measure::choose_timer(options.request.timer, offered));
  check_status("memory", memory->grow(measure::rotation_sets(device.facts(), memory->set_bytes(),
                                                             options.request.cache_state, timer)));
  std::vector<device::LaunchSequence> rotation;
  for (int set = 0; set < memory->sets(); ++set)
    rotation.push_back(value_or_stop("launch", verify::launches_on(*memory, loaded, set)));
  if (options.evicted_launches > 0) {
    launch_evicted(options, rotation, device);
    return;
  }
  check_status("warm-up", measure::warm_up(device, rotation, 25.0));
  print_times(prepared, value_or_stop("measure", measure::take_samples(device, rotation, options.request)));
}

int run_run(RunOptions& options) {
  options.request.cache_state = sweep::cache_state_of(options.cache);
  sweep::check_selection(options.selection);
  options.device = device::resolve_device_name(options.device);
  std::optional<HeldClock> held;
  if (options.clock_mhz > 0) held.emplace(options.clock_mhz, trial::Worker(options.device).facts());
  const auto device = device::open_device(options.device);
  const auto work = sweep::resolve_selection(options.selection, sweep::sweep_use(device->facts()));
  const auto prepared = sweep::prepare(work, device->facts(), 0);
  if (prepared.size() != 1)
    throw Error(ErrorKind::kUsage, fmt::format("run takes one problem, this names {}", prepared.size()),
                "give one --op, one --shape and one --dtype");
  const sweep::PreparedProblem& problem = *prepared.front();
  const model::Variant variant = spec::parse_variant(*problem.full, options.variant, problem.default_variant);
  if (const auto why = space::explain(*problem.full, problem.scope, variant))
    throw Error(ErrorKind::kUsage, fmt::format("{} is not in the space: {}", variant.text(), *why),
                fmt::format("`ktune space --op {} --list` shows what is", problem.spec->name));
  fmt::print("device    {} ({})\nproblem   {} {}\nvariant   {}{}\n", device->facts().name, options.device,
             problem.spec->name, problem.problem.text(), variant.text(),
             variant == problem.default_variant ? " (the default)" : "");
  const Compiled compiled = compile_trial(options, problem, variant, *device);
  run_trial(options, problem, compiled, *device);
  if (options.counters && options.evicted_launches == 0)
    print_traffic(options, problem, compiled.reference, compiled.plan, compiled.binary);
  return 0;
}

}  // namespace

std::function<int()> setup_run(CLI::App& app, const model::Provenance&) {
  auto options = std::make_shared<RunOptions>();
  add_problems(app, options->selection);
  add_device_option(app, options->device);
  app.add_option("--variant", options->variant, "NAME=V,… (what is left out is as in the default)");
  app.add_option("--cache", options->cache, "State of L2 at each timed launch: cold, dirty, warm")
      ->capture_default_str();
  add_timer_option(app, options->request.timer);
  app.add_option("--samples", options->request.samples, "Exactly so many samples (0: as many as fit --trial-ms)")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000));
  app.add_option("--trial-ms", options->request.budget_ms, "Sampling time, milliseconds")
      ->capture_default_str()
      ->check(number_in(0.1, 1e6));
  app.add_option("--launches", options->launches, "Time nothing: launch so many times after verifying")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000));
  app.add_flag("--counters", options->counters,
               "Also count the bytes read from and written to DRAM, in a process of its own");
  add_clock_option(app, options->clock_mhz);
  app.add_option("--evicted-launches", options->evicted_launches,
                 "Time nothing: launch so many times after verifying, with L2 as --cache says before each")
      ->check(CLI::Range(0, 1000000));
  app.add_option("--keep-binary", options->keep_binary,
                 "Write the compiled kernels to this file (a cubin on a GPU), and what launches them to FILE.json");
  return [options] { return run_run(*options); };
}

}  // namespace ktune::cli
