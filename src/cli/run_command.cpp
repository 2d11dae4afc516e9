#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/text.h"
#include "cli/clock_option.h"
#include "cli/commands.h"
#include "cli/number_in.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/timer_option.h"
#include "device/device.h"
#include "probe/counters.h"
#include "probe/device_look.h"
#include "probe/run.h"

namespace ktune::cli {

namespace {

struct RunCommand {
  probe::RunOptions run;
  std::string device = "auto";
  std::string variant = "default";
  std::string db;
  std::string cache = "cold";
  int clock_mhz = 0;
};

void print_times(const model::Cost& cost, const measure::Measurement& report) {
  const model::TimingSummary timing = measure::summarize(report.samples);
  fmt::print("time      {} (median of {}, {:.0f} % interval {} to {})\n", format_time_us(timing.time_us), timing.n,
             100.0 * timing.ci_level, format_time_us(timing.ci_low_us), format_time_us(timing.ci_high_us));
  fmt::print("figures   median {:.3f} µs, trimmed mean {:.3f} µs, p10 {:.3f} µs, p90 {:.3f} µs\n", timing.time_us,
             timing.mean_us, timing.p10_us, timing.p90_us);
  fmt::print("timer     {}, cache {}\n", name_of(report.samples.timer), name_of(report.samples.cache_state));
  fmt::print("traffic   {:.3f} MB, {:.1f} GB/s\n", static_cast<double>(cost.bytes()) / 1e6,
             static_cast<double>(cost.bytes()) / timing.time_us / 1e3);
  for (const std::string& warning : report.warnings) fmt::print("warning   {}\n", warning);
}

int run_run(RunCommand& options) {
  probe::RunOptions& run = options.run;
  run.request.cache_state = sweep::cache_state_of(options.cache);
  run.variant = sweep::parse_variant_choice(options.variant);
  run.database = db_path(options.db);
  sweep::check_selection(run.selection);
  if (!run.keep_binary.empty())
    check_no_input(inputs_of(run.selection, options.device, run.database), "--keep-binary", run.keep_binary);
  run.device = device::resolve_device_name(options.device);
  std::optional<HeldClock> held;
  if (options.clock_mhz > 0) held.emplace(options.clock_mhz, probe::look_at_device(run.device).facts);
  run.notices.line = [](const std::string& text) { fmt::print("{}\n", text); };
  const probe::RunResult result = probe::run(run);
  if (result.timed) print_times(result.cost, *result.timed);
  if (result.counted) fmt::print("counted   {}\n", probe::traffic_text(*result.counted, result.cost));
  return 0;
}

}  // namespace

std::function<int()> setup_run(CLI::App& app, const model::Provenance&) {
  auto options = std::make_shared<RunCommand>();
  add_problems(app, options->run.selection);
  add_device_option(app, options->device);
  add_variant_option(app, options->variant);
  add_db_option(app, options->db);
  app.add_option("--cache", options->cache, "State of L2 at each timed launch: cold, dirty, warm")
      ->capture_default_str();
  add_timer_option(app, options->run.request.timer);
  app.add_option("--samples", options->run.request.samples, "Exactly so many samples (0: as many as fit --trial-ms)")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000));
  app.add_option("--trial-ms", options->run.request.budget_ms, "Sampling time, milliseconds")
      ->capture_default_str()
      ->check(number_in(0.1, 1e6));
  app.add_option("--launches", options->run.launches, "Time nothing: launch so many times after verifying")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000));
  app.add_flag("--counters", options->run.counters,
               "Also count the bytes read from and written to DRAM, in a process of its own");
  add_clock_option(app, options->clock_mhz);
  app.add_option("--evicted-launches", options->run.evicted_launches,
                 "Time nothing: launch so many times after verifying, with L2 as --cache says before each")
      ->check(CLI::Range(0, 1000000));
  app.add_option("--keep-binary", options->run.keep_binary,
                 "Write the compiled kernels to this file (a cubin on a GPU), and what launches them to FILE.json");
  for (const char* option : {"--samples", "--trial-ms", "--timer"})
    for (const char* mode : {"--launches", "--evicted-launches"}) app.get_option(option)->excludes(mode);
  app.get_option("--launches")->excludes("--evicted-launches");
  return [options] { return run_run(*options); };
}

}  // namespace ktune::cli
