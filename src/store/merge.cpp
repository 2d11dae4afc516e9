#include <filesystem>

#include "store/impl.h"

// A merge inserts what is missing, level by level, and finds its new ids by uid. Nothing is compared or updated except
// the counts of a session that was still running here and is complete there, so it may be repeated and done both ways.

namespace ktune::store {

namespace {

/// {problem}, {trial}, …: columns here; {p_problem}, {t_trial}, …: the same there, or defaults where the other database
/// is older.
constexpr const char* kSteps[] = {
    R"sql(
INSERT INTO main.session(uid, {session}) SELECT uid, {session} FROM other.session
WHERE uid NOT IN (SELECT uid FROM main.session) ORDER BY id)sql",
    R"sql(
INSERT INTO main.problem(uid, session_id, timer, cache_state, {problem})
SELECT p.uid, mine.id, p.timer, p.cache_state, {p_problem}
FROM other.problem p JOIN other.session s ON s.id = p.session_id JOIN main.session mine ON mine.uid = s.uid
WHERE p.uid NOT IN (SELECT uid FROM main.problem) ORDER BY p.id)sql",
    R"sql(
INSERT INTO main.trial(uid, session_id, problem_id, {trial}) SELECT t.uid, mine.session_id, mine.id, {t_trial}
FROM other.trial t JOIN other.problem p ON p.id = t.problem_id JOIN main.problem mine ON mine.uid = p.uid
WHERE t.uid NOT IN (SELECT uid FROM main.trial) ORDER BY t.id)sql",
    R"sql(
INSERT OR IGNORE INTO main.problem_trial(problem_id, is_final, outcome, time_us, trial_id, is_default)
SELECT mine.id, l.is_final, l.outcome, l.time_us, my_trial.id, l.is_default
FROM other.problem_trial l
JOIN other.problem p ON p.id = l.problem_id JOIN main.problem mine ON mine.uid = p.uid
JOIN other.trial t ON t.id = l.trial_id JOIN main.trial my_trial ON my_trial.uid = t.uid)sql",
    R"sql(
UPDATE main.problem SET (timer, cache_state, {counts}) =
  (SELECT p.timer, p.cache_state, {p_counts} FROM other.problem p WHERE p.uid = main.problem.uid)
WHERE session_id IN (SELECT mine.id FROM main.session mine JOIN other.session s ON s.uid = mine.uid
                     WHERE s.complete = 1 AND mine.complete = 0))sql",
    R"sql(
UPDATE main.session SET complete = 1
WHERE complete = 0 AND uid IN (SELECT uid FROM other.session WHERE complete = 1))sql"};

/// Only where the other database keeps sources.
constexpr const char* kSources[] = {"INSERT OR IGNORE INTO main.bundle SELECT * FROM other.bundle",
                                    "INSERT OR IGNORE INTO main.source SELECT * FROM other.source"};

/// Rows that refer to no other.
std::string copy_of(const std::string& table, const std::string& columns) {
  return fmt::format(
      "INSERT INTO main.{0}(uid, {1}) SELECT uid, {1} FROM other.{0} "
      "WHERE uid NOT IN (SELECT uid FROM main.{0}) ORDER BY id",
      table, columns);
}

std::string counts(const std::string& prefix, int schema) {
  ColumnNames names(prefix, schema);
  const model::ProblemRecord defaults;
  model::ProblemRecord::counts(defaults, names);
  return names.text();
}

std::string with_columns(const char* step, int schema) {
  return fmt::format(fmt::runtime(step), fmt::arg("session", session_columns()), fmt::arg("problem", problem_columns()),
                     fmt::arg("p_problem", problem_columns("p.", schema)),
                     fmt::arg("trial", trial_columns() + sample_columns()),
                     fmt::arg("t_trial", trial_columns("t.", schema) + sample_columns("t.")),
                     fmt::arg("counts", counts("", kNewestSchema)), fmt::arg("p_counts", counts("p.", schema)));
}

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
    int sessions = 0;
    SQLite::Transaction transaction(impl_->database, SQLite::TransactionBehavior::IMMEDIATE);
    for (std::size_t i = 0; i < std::size(kSteps); ++i) {
      const int changed = impl_->database.exec(with_columns(kSteps[i], schema));
      if (i == 0) sessions = changed;
    }
    if (schema >= kSchemaWithWinners) impl_->database.exec(copy_of("fit", columns_of<model::FitRecord>()));
    if (schema >= kSchemaWithSources) {
      for (const char* step : kSources) impl_->database.exec(step);
      impl_->database.exec(copy_of("process_noise", columns_of<model::ProcessNoise>()));
    }
    transaction.commit();
    return sessions;
  });
}

void merge_databases(const std::string& into, const std::vector<std::string>& from,
                     const std::function<void(const std::string& other, int sessions)>& merged) {
  for (const std::string& other : from) Store(other, Store::Mode::kRead);
  Store store(into, Store::Mode::kWrite);
  for (const std::string& other : from) merged(other, store.merge_from(other));
}

}  // namespace ktune::store
