#include <filesystem>

#include "store/impl.h"

// A merge inserts what is missing, level by level, and finds its new ids by uid. Nothing is compared or updated except
// the counts of a session that was still running here and is complete there, so it may be repeated and done both ways.

namespace ktune::store {

namespace {

/// {problem_news} and {trial_news}: what later schemas added, or its defaults where the other database is older.
constexpr const char* kSteps[] = {
    R"sql(
INSERT INTO main.session(uid, date, command, version, commit_hash, device_kind, device_name, device, complete)
SELECT uid, date, command, version, commit_hash, device_kind, device_name, device, complete FROM other.session
WHERE uid NOT IN (SELECT uid FROM main.session) ORDER BY id)sql",
    R"sql(
INSERT INTO main.problem(uid, session_id, op, text, dtype, problem, default_variant, cost, spec_hash, source_hash,
                         enumerated, rejected, not_visited, reused, timer, cache_state, winner, tie_set, decided_timer)
SELECT p.uid, mine.id, p.op, p.text, p.dtype, p.problem, p.default_variant, p.cost, p.spec_hash, p.source_hash,
       p.enumerated, p.rejected, p.not_visited, p.reused, p.timer, p.cache_state, {problem_news}
FROM other.problem p JOIN other.session s ON s.id = p.session_id JOIN main.session mine ON mine.uid = s.uid
WHERE p.uid NOT IN (SELECT uid FROM main.problem) ORDER BY p.id)sql",
    R"sql(
INSERT INTO main.trial(uid, session_id, problem_id, op, problem_text, variant_text, variant, is_default, is_final,
  outcome, reason, date, timer, cache_state, n, time_us, mean_us, min_us, p10_us, p90_us, ci_low_us, ci_high_us,
  ci_level, compile_ms, verify_margin, seed, fingerprint, fingerprint_parts, binary_key, resources, state_before,
  state_after, warnings, samples, detail, dram_read, dram_written, traffic_note, transient)
SELECT t.uid, mine.session_id, mine.id, t.op, t.problem_text, t.variant_text, t.variant, t.is_default, t.is_final,
  t.outcome, t.reason, t.date, t.timer, t.cache_state, t.n, t.time_us, t.mean_us, t.min_us, t.p10_us, t.p90_us,
  t.ci_low_us, t.ci_high_us, t.ci_level, t.compile_ms, t.verify_margin, t.seed, t.fingerprint, t.fingerprint_parts,
  t.binary_key, t.resources, t.state_before, t.state_after, t.warnings, t.samples, t.detail, {trial_news}
FROM other.trial t JOIN other.problem p ON p.id = t.problem_id JOIN main.problem mine ON mine.uid = p.uid
WHERE t.uid NOT IN (SELECT uid FROM main.trial) ORDER BY t.id)sql",
    R"sql(
INSERT OR IGNORE INTO main.problem_trial(problem_id, is_final, outcome, time_us, trial_id, is_default)
SELECT mine.id, l.is_final, l.outcome, l.time_us, my_trial.id, l.is_default
FROM other.problem_trial l
JOIN other.problem p ON p.id = l.problem_id JOIN main.problem mine ON mine.uid = p.uid
JOIN other.trial t ON t.id = l.trial_id JOIN main.trial my_trial ON my_trial.uid = t.uid)sql",
    R"sql(
UPDATE main.problem SET (enumerated, rejected, not_visited, reused, timer, cache_state, winner, tie_set,
                         decided_timer) =
  (SELECT p.enumerated, p.rejected, p.not_visited, p.reused, p.timer, p.cache_state, {problem_news} FROM other.problem p
   WHERE p.uid = main.problem.uid)
WHERE session_id IN (SELECT mine.id FROM main.session mine JOIN other.session s ON s.uid = mine.uid
                     WHERE s.complete = 1 AND mine.complete = 0))sql",
    R"sql(
UPDATE main.session SET complete = 1
WHERE complete = 0 AND uid IN (SELECT uid FROM other.session WHERE complete = 1))sql"};

/// Only where the other database has fits.
constexpr const char* kFits = R"sql(
INSERT INTO main.fit(uid, device, driver, power_limit_w, read_fraction, cache_state, timer, launches, t0_us, gbps,
  ceiling_gbps, worst_residual_pct, points, date, commit_hash)
SELECT uid, device, driver, power_limit_w, read_fraction, cache_state, timer, launches, t0_us, gbps, ceiling_gbps,
  worst_residual_pct, points, date, commit_hash FROM other.fit
WHERE uid NOT IN (SELECT uid FROM main.fit) ORDER BY id)sql";

/// Only where the other database keeps sources.
constexpr const char* kSources[] = {"INSERT OR IGNORE INTO main.bundle SELECT * FROM other.bundle",
                                    "INSERT OR IGNORE INTO main.source SELECT * FROM other.source",
                                    R"sql(
INSERT INTO main.process_noise(uid, device, driver, power_limit_w, cache_state, constant_us, relative, kernels, pairs,
  date, commit_hash)
SELECT uid, device, driver, power_limit_w, cache_state, constant_us, relative, kernels, pairs, date, commit_hash
FROM other.process_noise WHERE uid NOT IN (SELECT uid FROM main.process_noise) ORDER BY id)sql"};

void check_not_itself(const std::string& mine, const std::string& other) {
  std::error_code ignored;
  if (std::filesystem::equivalent(mine, other, ignored))
    throw Error(ErrorKind::kUsage, other + " cannot be merged into itself", "name two different databases");
}

/// Attaches the other database for as long as this lives.
class Attached {
 public:
  Attached(SQLite::Database& database, const std::string& path) : database_(database) {
    SQLite::Statement attach(database_, "ATTACH ? AS other");
    const std::string uri = read_only_uri(path);
    attach.bind(1, uri);
    attach.exec();
  }
  ~Attached() { (void)database_.tryExec("DETACH other"); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

 private:
  SQLite::Database& database_;
};

}  // namespace

int Store::merge_from(const std::string& other) {
  check_not_itself(impl_->path, other);
  const Store readable(other, Mode::kRead);  // says what is wrong with it, in its own name
  return guarded(impl_->path, [&] {
    Attached attached(impl_->database, other);
    const int schema = impl_->database.execAndGet("PRAGMA other.user_version").getInt();
    const bool has_winners = schema >= kSchemaWithWinners;
    int sessions = 0;
    SQLite::Transaction transaction(impl_->database, SQLite::TransactionBehavior::IMMEDIATE);
    for (std::size_t i = 0; i < std::size(kSteps); ++i) {
      const int changed = impl_->database.exec(fmt::format(
          fmt::runtime(kSteps[i]),
          fmt::arg("problem_news", has_winners ? "p.winner, p.tie_set, p.decided_timer" : "'{}', '[]', ''"),
          fmt::arg("trial_news",
                   std::string(has_winners ? "t.dram_read, t.dram_written, t.traffic_note, " : "-1, -1, '', ") +
                       std::string(transient_column(schema)))));
      if (i == 0) sessions = changed;
    }
    if (has_winners) impl_->database.exec(kFits);
    if (schema >= kSchemaWithSources)
      for (const char* step : kSources) impl_->database.exec(step);
    transaction.commit();
    return sessions;
  });
}

}  // namespace ktune::store
