#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/stderr_notices.h"
#include "cli/sweep_print.h"
#include "cli/timer_option.h"
#include "probe/roofline.h"
#include "report/fits.h"
#include "report/report.h"
#include "sweep/sweep.h"

namespace ktune::cli {

namespace {

struct RooflineCommand {
  probe::RooflineOptions measured;
  std::string device = "auto";
  std::string db;
  std::vector<std::string> caches{"cold"};
  Output output;
};

/// What is printed.
struct Fitted {
  model::DeviceFacts facts;
  std::vector<model::FitRecord> fits;
  std::vector<std::string> notes;
};

Document document_of(const Fitted& fitted) {
  const model::DeviceFacts& facts = fitted.facts;
  std::string title = "roofline of " + facts.name;
  if (!facts.driver.empty()) title += ", driver " + facts.driver;
  if (facts.power_limit_w > 0.0) title += fmt::format(", power limit {:.0f} W", facts.power_limit_w);
  if (facts.spec_gbps > 0.0) title += fmt::format(", peak {:.0f} GB/s", facts.spec_gbps);
  Document document;
  document.title = "ktune roofline";
  document.sections.push_back({title,
                               {"t = t0 + bytes / B; mix is reads:writes"},
                               report::roofline_table(fitted.fits, facts.spec_gbps),
                               fitted.notes});
  return document;
}

std::string print_fits(const Fitted& fitted, int, bool) {
  return report::roofline_json(fitted.fits, fitted.facts.spec_gbps, fitted.notes);
}

const std::vector<Format<Fitted>>& roofline_formats() {
  static const std::vector<Format<Fitted>> kFormats =
      formats_of<Fitted>({{"json", "schema ktune.roofline/1, with the points of each fit", print_fits}}, document_of);
  return kFormats;
}

void check_names(RooflineCommand& options) {
  options.measured.caches.clear();
  for (const std::string& cache : options.caches) options.measured.caches.push_back(sweep::cache_state_of(cache));
  check_output(options.output, roofline_formats(), inputs_of({}, options.device, db_path(options.db)));
}

int run_roofline(RooflineCommand& options) {
  check_names(options);
  options.measured.notices = stderr_notices();
  const model::DeviceFacts facts = sweep::device_facts(options.device, options.measured.notices);
  for (const model::TimerRequest& timer : options.measured.timers) sweep::check_timer(options.device, timer);
  options.measured.device = options.device;
  const probe::Roofline roofline = probe::measure_roofline(options.measured, facts, db_path(options.db));
  deliver(options.output, roofline_formats(), Fitted{facts, report::newest_fits(roofline.fits), roofline.notes});
  if (options.output.format == "csv")  // which has no place for them
    for (const std::string& note : roofline.notes) print_log("note: {}\n", note);
  print_log("{} fits in {}\n", roofline.fits.size(), db_path(options.db));
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
  add_output(app, options->output, roofline_formats());
  return [options] { return run_roofline(*options); };
}

}  // namespace ktune::cli
