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
#include "cli/roofline_mixes.h"
#include "cli/selection.h"
#include "cli/sweep_print.h"
#include "cli/version.h"
#include "report/fits.h"
#include "report/report.h"
#include "store/store.h"
#include "sweep/sweep.h"

// The roofline is tuned like any op: each rung of the ladder is a sweep of a narrowed space, verified and timed as
// everything else is, and its winner is a point of the fit. A fit of one cache state or timer says nothing of another
// one (t0 is 4 µs behind one and 1 µs behind the other), so each combination has a session of its own.

namespace ktune::cli {

namespace {

struct RooflineOptions {
  std::string device = "auto";
  std::string db;
  std::vector<std::string> caches{"cold"};
  std::vector<std::string> timers;  ///< none: those a sweep's `auto` chooses from
  bool quick = false;
  std::string format = "term";
  int jobs = 0;
};

constexpr const char* kFormats[] = {"term", "md", "csv", "json"};

void check_name(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Error(ErrorKind::kUsage, fmt::format("unknown {} '{}'{}", what, name, did_you_mean(name, known)),
                "one of " + join(known, ", "));
}

void check_names(const RooflineOptions& options) {
  for (const std::string& cache : options.caches) check_name("cache state", cache, {"cold", "dirty", "warm"});
  for (const std::string& timer : options.timers)
    check_name("timer", timer, {"events", "cupti", "graph", "host", "script"});
  check_name("format", options.format, {std::begin(kFormats), std::end(kFormats)});
}

/// One cache state and timer of the roofline.
struct Round {
  std::string timer;
  model::CacheState cache_state = model::CacheState::kCold;
  std::vector<model::FitRecord> fits;
  std::vector<std::string> notes;
};

sweep::Options sweep_options(const RooflineOptions& options, const Round& round) {
  sweep::Options sweep;
  sweep.device = options.device;
  sweep.jobs = options.jobs;
  sweep.cache_state = round.cache_state;
  sweep.timer = round.timer;
  sweep.finalists = 3;
  if (options.quick) sweep.trial_ms = 5.0;
  sweep.version = version();
  sweep.commit = commit();
  sweep.command = command_line();
  return sweep;
}

std::string problem_key(const std::string& op, const model::Problem& problem) { return op + '\n' + problem.text(); }

/// Why a session's rung has no time: the first reason its trials give.
std::string first_reason(const model::Dataset& dataset) {
  for (const model::TrialRecord& trial : dataset.trials)
    if (!trial.reason.empty()) return fmt::format("{}: {}", name_of(trial.outcome), trial.reason);
  return "no variant was measured";
}

/// The fits of one session: a point a rung, of the winner's time.
void fit_session(const model::Dataset& dataset, const std::vector<sweep::Work>& work, const model::DeviceFacts& facts,
                 Round& round) {
  std::map<std::string, report::Row> rows;
  for (report::Row& row : report::make_report(dataset, false).rows)
    rows.emplace(problem_key(row.op, row.problem), std::move(row));
  for (std::size_t i = 0; i < work.size(); ++i) {
    const MixRow& mix = roofline_mixes()[i];
    model::FitRecord fit;
    fit.device = facts.name;
    fit.driver = facts.driver;
    fit.power_limit_w = facts.power_limit_w;
    fit.cache_state = round.cache_state;
    fit.launches = mix.launches;
    for (const model::Problem& problem : work[i].problems) {
      const auto at = rows.find(problem_key(std::string(mix.op), problem));
      if (at == rows.end() || !at->second.time_us || !at->second.bytes) continue;
      const report::Row& row = at->second;
      fit.points.emplace_back(*row.bytes, *row.time_us);
      fit.read_fraction = static_cast<double>(*row.bytes_read) / static_cast<double>(*row.bytes);
      if (const auto timer = model::parse_timer(row.timer)) fit.timer = *timer;
      fit.date = row.date;
      fit.commit = row.commit;
    }
    if (report::fit_points(fit)) {
      round.fits.push_back(std::move(fit));
      continue;
    }
    const std::string why =
        fit.points.size() < 3 ? fmt::format("{} of {} sizes were measured", fit.points.size(), work[i].problems.size())
                              : "its times do not grow with the size";
    round.notes.push_back(fmt::format("{} in {} launch{}, {} L2, timer {}: not fitted, {}", mix.name, mix.launches,
                                      mix.launches == 1 ? "" : "es", name_of(round.cache_state), round.timer, why));
  }
  if (round.fits.empty())
    round.notes = {fmt::format("nothing with timer {}, {} L2: {}", round.timer, name_of(round.cache_state),
                               first_reason(dataset))};
}

void run_round(const RooflineOptions& options, const std::vector<sweep::Work>& work, const model::DeviceFacts& facts,
               store::Store& store, Round& round) {
  const sweep::Options sweep = sweep_options(options, round);
  const auto prepared = sweep::prepare(work, facts, sweep.seed);
  ProgressLine line;
  sweep::Observer observer;
  observer.progress = [&](const sweep::ProblemStatus& status) {
    line.update(fmt::format("{}, {}: {}", round.timer, name_of(round.cache_state), progress_text(status)));
  };
  observer.message = [&](const std::string& text) { line.print(text); };
  const sweep::Summary summary = sweep::run(prepared, facts, store, sweep, observer);
  line.clear();
  if (summary.interrupted)
    throw Error(ErrorKind::kInterrupted, "interrupted; what was measured is kept", "resume with: " + command_line());
  store::Filter own;
  own.session = summary.session;
  fit_session(store.load(own), work, facts, round);
  for (const model::FitRecord& fit : round.fits) store.add_fit(fit);
}

/// A timer that nobody named may be missing here; one that was named may not.
void try_round(const RooflineOptions& options, const std::vector<sweep::Work>& work, const model::DeviceFacts& facts,
               store::Store& store, Round& round) {
  try {
    run_round(options, work, facts, store, round);
  } catch (const Error& error) {
    if (!options.timers.empty() || error.kind() == ErrorKind::kInterrupted) throw;
    round.notes.push_back(
        fmt::format("nothing with timer {}, {} L2: {}", round.timer, name_of(round.cache_state), error.message()));
  }
  if (round.fits.empty() && !options.timers.empty())
    throw Error(ErrorKind::kEnvironment, round.notes.empty() ? "nothing was measured" : round.notes.front(),
                "`ktune doctor` says which timers this machine has");
}

void print(const RooflineOptions& options, const model::DeviceFacts& facts, const std::vector<model::FitRecord>& fits,
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

int run_roofline(RooflineOptions& options) {
  check_names(options);
  const model::DeviceFacts facts = device_facts(options.device);
  for (const std::string& timer : options.timers) check_timer(options.device, timer);
  std::vector<std::string> timers = options.timers;
  if (timers.empty())
    timers = facts.kind == "cuda" ? std::vector<std::string>{"events", "cupti"} : std::vector<std::string>{"auto"};
  const std::vector<sweep::Work> work = roofline_work(roofline_ladder(facts, options.quick));
  store::Store store(db_path(options.db), store::Store::Mode::kWrite);
  std::vector<model::FitRecord> fits;
  std::vector<std::string> notes;
  for (const std::string& cache : options.caches)
    for (const std::string& timer : timers) {
      Round round;
      round.timer = timer;
      round.cache_state = *model::parse_cache_state(cache);
      try_round(options, work, facts, store, round);
      fits.insert(fits.end(), round.fits.begin(), round.fits.end());
      notes.insert(notes.end(), round.notes.begin(), round.notes.end());
    }
  if (fits.empty())
    throw Error(ErrorKind::kNoData, notes.empty() ? "nothing was measured" : notes.front(),
                fmt::format("`ktune report --explain OP PROBLEM --db {}` lists what failed and why", store.path()));
  notes.emplace_back("2:1 and 0:1 are not measured with two launches: no op of theirs needs two");
  print(options, facts, report::newest_fits(fits), notes);
  fmt::print(stderr, "{} fits in {}\n", fits.size(), store.path());
  return 0;
}

}  // namespace

std::function<int()> setup_roofline(CLI::App& app) {
  auto options = std::make_shared<RooflineOptions>();
  add_device_option(app, options->device);
  add_db_option(app, options->db);
  app.add_option("--cache", options->caches, "States of L2 at each timed launch: cold, dirty, warm (repeatable)")
      ->capture_default_str();
  app.add_option("--timer", options->timers,
                 "Timers: events, cupti, graph, host (repeatable; default: events and cupti on a GPU)");
  app.add_flag("--quick", options->quick, "Fewer sizes, shorter trials");
  app.add_option("--jobs", options->jobs, "Compile processes (0: one a core)")->check(CLI::Range(0, 1024));
  app.add_option("--format", options->format, "term, md, csv or json")->capture_default_str();
  return [options] { return run_roofline(*options); };
}

}  // namespace ktune::cli
