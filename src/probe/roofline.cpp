#include "probe/roofline.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "probe/roofline_mixes.h"
#include "report/fits.h"
#include "report/report.h"
#include "store/store.h"
#include "sweep/progress_text.h"

// The roofline is tuned like any op: each rung of the ladder is a sweep of a narrowed space, verified and timed as
// everything else is, and its winner is a point of the fit. A fit of one cache state or timer says nothing of another
// one (t0 is 4 µs behind one and 1 µs behind the other), so each combination has a session of its own.

namespace ktune::probe {

namespace {

/// One cache state and timer of the roofline.
struct Round {
  model::TimerRequest timer;
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
  sweep.provenance = options.provenance;
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
                                      mix.launches == 1 ? "" : "es", name_of(round.cache_state), name_of(round.timer),
                                      why));
  }
  if (round.fits.empty())
    round.notes = {fmt::format("nothing with timer {}, {} L2: {}", name_of(round.timer), name_of(round.cache_state),
                               first_reason(dataset))};
}

void run_round(const RooflineOptions& options, const std::vector<sweep::Work>& work, const model::DeviceFacts& facts,
               store::Store& store, Round& round) {
  const sweep::Options sweep = sweep_options(options, round);
  const auto prepared = sweep::prepare(work, facts, sweep.seed);
  sweep::Observer observer;
  observer.progress = [&](const sweep::ProblemStatus& status) {
    options.notices.show_progress(
        fmt::format("{}, {}: {}", name_of(round.timer), name_of(round.cache_state), sweep::progress_text(status)));
  };
  observer.message = options.notices.line;
  const sweep::Summary summary = sweep::run(prepared, facts, store, sweep, observer);
  options.notices.show_progress("");
  if (summary.interrupted)
    throw Error(ErrorKind::kInterrupted, "interrupted; what was measured is kept",
                "resume with: " + options.provenance.command);
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
    round.notes.push_back(fmt::format("nothing with timer {}, {} L2: {}", name_of(round.timer),
                                      name_of(round.cache_state), error.message()));
  }
  if (round.fits.empty() && !options.timers.empty())
    throw Error(ErrorKind::kEnvironment, round.notes.empty() ? "nothing was measured" : round.notes.front(),
                "`ktune doctor` says which timers this machine has");
}

/// Those that a sweep's auto chooses from; where it has no choice, auto itself.
std::vector<model::TimerRequest> default_timers(const model::DeviceFacts& facts) {
  if (!model::auto_decides(facts.kind)) return {model::TimerRequest()};
  const std::vector<model::Timer> timers = model::auto_timers(facts.kind);
  return {timers.begin(), timers.end()};
}

}  // namespace

Roofline measure_roofline(const RooflineOptions& options, const model::DeviceFacts& facts,
                          const std::string& database) {
  store::Store store(database, store::Store::Mode::kWrite);
  const std::vector<model::TimerRequest> timers = options.timers.empty() ? default_timers(facts) : options.timers;
  const std::vector<sweep::Work> work = roofline_work(roofline_ladder(facts, options.quick));
  Roofline roofline;
  for (const model::CacheState cache : options.caches)
    for (const model::TimerRequest& timer : timers) {
      Round round;
      round.timer = timer;
      round.cache_state = cache;
      try_round(options, work, facts, store, round);
      roofline.fits.insert(roofline.fits.end(), round.fits.begin(), round.fits.end());
      roofline.notes.insert(roofline.notes.end(), round.notes.begin(), round.notes.end());
    }
  if (roofline.fits.empty())
    throw Error(ErrorKind::kNoData, roofline.notes.empty() ? "nothing was measured" : roofline.notes.front(),
                fmt::format("`ktune report --explain OP PROBLEM --db {}` lists what failed and why", database));
  roofline.notes.emplace_back("2:1 and 0:1 are not measured with two launches: no op of theirs needs two");
  return roofline;
}

}  // namespace ktune::probe
