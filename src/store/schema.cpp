#include "store/schema.h"

#include <fmt/format.h>

#include "base/error.h"

#include <string>

// Trials are never updated, so everything derived from them can be kept beside them: `problem_trial` repeats what a
// report counts and ranks by, in the order in which it asks. A report of winners then reads a few index pages a
// problem, whatever the number of trials, and never touches the wide rows of `trial` it does not show.
//
// The steps below are history and stay as they are, so they spell out the columns that elsewhere follow from the
// records' fields.
//
// Ids are local to a file; `uid` (128 random bits) is what a session, problem or trial is known by across files.

namespace ktune::store {

namespace {

constexpr const char* kFirst = R"sql(
CREATE TABLE session(
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  date TEXT NOT NULL,                -- UTC, 2026-11-29T14:03:05Z
  command TEXT NOT NULL,
  version TEXT NOT NULL,
  commit_hash TEXT NOT NULL,
  device_kind TEXT NOT NULL,
  device_name TEXT NOT NULL,
  device TEXT NOT NULL,              -- JSON: every fact
  complete INTEGER NOT NULL CHECK (complete IN (0, 1))
) STRICT;
CREATE INDEX session_by_date ON session(date);

CREATE TABLE problem(
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  session_id INTEGER NOT NULL REFERENCES session(id),
  op TEXT NOT NULL,
  text TEXT NOT NULL,                -- M=4096 N=4096 bf16
  dtype TEXT NOT NULL,
  problem TEXT NOT NULL,             -- JSON
  default_variant TEXT NOT NULL,     -- JSON
  cost TEXT NOT NULL,                -- JSON
  spec_hash TEXT NOT NULL,
  source_hash TEXT NOT NULL,
  enumerated INTEGER NOT NULL,
  rejected TEXT NOT NULL,            -- JSON: reason → points
  not_visited INTEGER NOT NULL,
  reused INTEGER NOT NULL,
  timer TEXT,                        -- of its first measured trial
  cache_state TEXT
) STRICT;
CREATE INDEX problem_by_name ON problem(op, text, session_id);
CREATE INDEX problem_by_session ON problem(session_id);

CREATE TABLE trial(
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  session_id INTEGER NOT NULL REFERENCES session(id),
  problem_id INTEGER NOT NULL REFERENCES problem(id),
  op TEXT NOT NULL,
  problem_text TEXT NOT NULL,
  variant_text TEXT NOT NULL,        -- BLOCK_SIZE=4096,num_warps=8
  variant TEXT NOT NULL,             -- JSON
  is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
  is_final INTEGER NOT NULL CHECK (is_final IN (0, 1)),
  outcome TEXT NOT NULL,
  reason TEXT NOT NULL,
  date TEXT NOT NULL,
  timer TEXT,                        -- timing: null unless it was timed
  cache_state TEXT NOT NULL,
  n INTEGER,
  time_us REAL,                      -- median
  mean_us REAL,                      -- trimmed
  min_us REAL,
  p10_us REAL,
  p90_us REAL,
  ci_low_us REAL,
  ci_high_us REAL,
  ci_level REAL,
  compile_ms REAL,
  verify_margin REAL,
  seed INTEGER NOT NULL,             -- 64 bits, as a signed number
  fingerprint TEXT NOT NULL,
  fingerprint_parts TEXT NOT NULL,   -- JSON
  binary_key TEXT NOT NULL,
  resources TEXT NOT NULL,           -- JSON
  state_before TEXT NOT NULL,        -- JSON
  state_after TEXT NOT NULL,         -- JSON
  warnings TEXT NOT NULL,            -- JSON
  samples BLOB NOT NULL,             -- microseconds, 64-bit floats of the machine, in the order taken
  detail TEXT NOT NULL
) STRICT;
CREATE INDEX trial_by_fingerprint ON trial(fingerprint);
CREATE INDEX trial_by_variant ON trial(op, problem_text, variant_text);

-- Which trials a problem counts: its own and the re-used ones.
CREATE TABLE problem_trial(
  problem_id INTEGER NOT NULL REFERENCES problem(id),
  is_final INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  time_us REAL NOT NULL,             -- 0 unless it was timed
  trial_id INTEGER NOT NULL REFERENCES trial(id),
  is_default INTEGER NOT NULL,
  PRIMARY KEY (problem_id, is_final, outcome, time_us, trial_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX problem_trial_default ON problem_trial(problem_id, is_final) WHERE is_default = 1;
)sql";

// A fit is known by its key and its date; the newest of a key counts, older ones stay as history.
constexpr const char* kSecond = R"sql(
ALTER TABLE problem ADD COLUMN winner TEXT NOT NULL DEFAULT '{}';      -- JSON: a variant, {} where none was named
ALTER TABLE problem ADD COLUMN tie_set TEXT NOT NULL DEFAULT '[]';     -- JSON: variants
ALTER TABLE problem ADD COLUMN decided_timer TEXT NOT NULL DEFAULT ''; -- by `auto`
ALTER TABLE trial ADD COLUMN dram_read INTEGER NOT NULL DEFAULT -1;    -- bytes; -1: not measured
ALTER TABLE trial ADD COLUMN dram_written INTEGER NOT NULL DEFAULT -1;
ALTER TABLE trial ADD COLUMN traffic_note TEXT NOT NULL DEFAULT '';    -- why it could not be measured

CREATE TABLE fit(
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  device TEXT NOT NULL,
  driver TEXT NOT NULL,
  power_limit_w REAL NOT NULL,
  read_fraction REAL NOT NULL,
  cache_state TEXT NOT NULL,
  timer TEXT NOT NULL,
  launches INTEGER NOT NULL,
  t0_us REAL NOT NULL,
  gbps REAL NOT NULL,
  ceiling_gbps REAL NOT NULL,
  worst_residual_pct REAL NOT NULL,
  points TEXT NOT NULL,              -- JSON: [[bytes, microseconds], …]
  date TEXT NOT NULL,
  commit_hash TEXT NOT NULL
) STRICT;
CREATE INDEX fit_by_device ON fit(device, driver, power_limit_w);
)sql";

// What a problem was swept from is found by its spec_hash and source_hash; many problems share one bundle.
constexpr const char* kThird = R"sql(
CREATE TABLE bundle(
  hash TEXT PRIMARY KEY,             -- of spec and files
  spec TEXT NOT NULL,
  files TEXT NOT NULL                -- JSON: [[path, text], …]
) STRICT, WITHOUT ROWID;
CREATE TABLE source(
  spec_hash TEXT NOT NULL,
  source_hash TEXT NOT NULL,
  bundle_hash TEXT NOT NULL REFERENCES bundle(hash),
  PRIMARY KEY (spec_hash, source_hash)
) STRICT, WITHOUT ROWID;

-- Failures that were the machine's doing; before, they were known by their words.
ALTER TABLE trial ADD COLUMN transient INTEGER NOT NULL DEFAULT 0;
UPDATE trial SET transient = 1 WHERE reason LIKE '%crashed%' OR reason LIKE '%memory%to be had%';

-- How much processes of one build differ, by `ktune gate --aa`; the newest of a device counts.
CREATE TABLE process_noise(
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  device TEXT NOT NULL,
  driver TEXT NOT NULL,
  power_limit_w REAL NOT NULL,
  cache_state TEXT NOT NULL,
  constant_us REAL NOT NULL,
  relative REAL NOT NULL,
  kernels INTEGER NOT NULL,
  pairs INTEGER NOT NULL,
  date TEXT NOT NULL,
  commit_hash TEXT NOT NULL
) STRICT;
CREATE INDEX process_noise_by_device ON process_noise(device, driver, power_limit_w);
)sql";

constexpr const char* kMigrations[] = {kFirst, kSecond, kThird};
static_assert(std::size(kMigrations) == kNewestSchema);

int pragma(SQLite::Database& database, const char* text) { return database.execAndGet(text).getInt(); }

}  // namespace

std::span<const char* const> migrations() { return kMigrations; }

SchemaState schema_state(SQLite::Database& database) {
  // One snapshot: another process may be making the tables between these three.
  SQLite::Transaction snapshot(database);
  SchemaState state;
  state.version = pragma(database, "PRAGMA user_version");
  state.application_id = pragma(database, "PRAGMA application_id");
  state.empty = pragma(database, "SELECT count(*) FROM sqlite_master") == 0;
  snapshot.commit();
  return state;
}

void migrate(SQLite::Database& database, std::span<const char* const> steps) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  const int have = pragma(database, "PRAGMA user_version");  // under the lock: another process may have been first
  const int want = static_cast<int>(steps.size());
  if (have < 0)
    throw Error(ErrorKind::kEnvironment, fmt::format("schema version {} of this database makes no sense", have),
                "it is damaged or not ktune's: name another with --db");
  for (int step = have; step < want; ++step) database.exec(steps[static_cast<std::size_t>(step)]);
  if (have < want) {
    database.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
    database.exec("PRAGMA user_version = " + std::to_string(want));
  }
  transaction.commit();
}

}  // namespace ktune::store
