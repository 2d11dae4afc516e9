#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/process.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/stderr_notices.h"
#include "cli/sweep_print.h"
#include "cli/timer_option.h"
#include "probe/roofline.h"
#include "report/fits.h"
#include "report/report.h"
#include "store/store.h"
#include "sweep/sweep.h"

namespace ktune::cli {

namespace {

struct RooflineCommand {
  probe::RooflineOptions measured;
  std::string device = "auto";
  std::string db;
  std::vector<std::string> caches{"cold"};
  std::string format = "term";
};

constexpr const char* kFormats[] = {"term", "md", "csv", "json"};

void check_name(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Error(ErrorKind::kUsage, fmt::format("unknown {} '{}'{}", what, name, did_you_mean(name, known)),
                "one of " + join(known, ", "));
}

void check_names(RooflineCommand& options) {
  options.measured.caches.clear();
  for (const std::string& cache : options.caches) options.measured.caches.push_back(sweep::cache_state_of(cache));
  check_name("format", options.format, {std::begin(kFormats), std::end(kFormats)});
}

void print(const RooflineCommand& options, const model::DeviceFacts& facts, const std::vector<model::FitRecord>& fits,
           const std::vector<std::string>& notes) {
  const Stream out = stdout_stream();
  if (options.format == "json") {
    std::fputs(report::roofline_json(fits, facts.spec_gbps, notes).c_str(), stdout);
    return;
  }
  const Table table = report::roofline_table(fits, facts.spec_gbps);
  if (options.format == "csv") {
    std::fputs(table.csv().c_str(), stdout);
    for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", note);
    return;
  }
  std::string title = "roofline of " + facts.name;
  if (!facts.driver.empty()) title += ", driver " + facts.driver;
  if (facts.power_limit_w > 0.0) title += fmt::format(", power limit {:.0f} W", facts.power_limit_w);
  if (facts.spec_gbps > 0.0) title += fmt::format(", peak {:.0f} GB/s", facts.spec_gbps);
  const std::string law = "t = t0 + bytes / B; mix is reads:writes";
  if (options.format == "md") {
    fmt::print("## {}\n\n{}\n\n{}{}", title, law, table.markdown(), notes.empty() ? "" : "\n");
    for (const std::string& note : notes) fmt::print("- {}\n", note);
    return;
  }
  fmt::print("{}\n  {}\n{}", styled(title, Style::kBold, out.colour), law, table.term(out.width, out.colour));
  for (const std::string& note : notes) fmt::print("note: {}\n", note);
}

int run_roofline(RooflineCommand& options) {
  check_names(options);
  options.measured.notices = stderr_notices();
  const model::DeviceFacts facts = sweep::device_facts(options.device, options.measured.notices);
  for (const model::TimerRequest& timer : options.measured.timers) sweep::check_timer(options.device, timer);
  options.measured.device = options.device;
  store::Store store(db_path(options.db), store::Store::Mode::kWrite);
  const probe::Roofline roofline = probe::measure_roofline(options.measured, facts, store);
  print(options, facts, report::newest_fits(roofline.fits), roofline.notes);
  fmt::print(stderr, "{} fits in {}\n", roofline.fits.size(), store.path());
  return 0;
}

}  // namespace

std::function<int()> setup_roofline(CLI::App& app, const model::Provenance& provenance) {
  auto options = std::make_shared<RooflineCommand>();
  options->measured.provenance = provenance;
  add_device_option(app, options->device);
  add_db_option(app, options->db);
  app.add_option("--cache", options->caches, "States of L2 at each timed launch: cold, dirty, warm (repeatable)")
      ->capture_default_str();
  add_timers_option(app, options->measured.timers, "repeatable; default: those that a sweep's auto chooses from");
  app.add_flag("--quick", options->measured.quick, "Fewer sizes, shorter trials");
  app.add_option("--jobs", options->measured.jobs, "Compile processes (0: one a core)")->check(CLI::Range(0, 1024));
  app.add_option("--format", options->format, "term, md, csv or json")->capture_default_str();
  return [options] { return run_roofline(*options); };
}

}  // namespace ktune::cli
