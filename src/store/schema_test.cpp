#include "store/schema.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "store/fixture.h"

namespace ktune::store {
namespace {

model::FitRecord fit_of(const std::string& date, double gbps) {
  model::FitRecord fit;
  fit.device = "NVIDIA H200";
  fit.driver = "580.159.04";
  fit.power_limit_w = 700.0;
  fit.read_fraction = 0.5;
  fit.timer = model::Timer::kCupti;
  fit.cache_state = model::CacheState::kDirty;
  fit.launches = 2;
  fit.t0_us = 3.25;
  fit.gbps = gbps;
  fit.ceiling_gbps = gbps + 10.0;
  fit.worst_residual_pct = 1.5;
  fit.points = {{1048576, 4.5}, {16777216, 9.75}};
  fit.date = date;
  fit.commit = "abc123";
  return fit;
}

/// A database as schema 1 left it, with one measured trial.
void make_first_schema(const std::string& path, const std::string& date) {
  SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  migrate(database, migrations().first(1));
  const auto run = [&](const std::string& sql) { database.exec(sql); };
  run("INSERT INTO session VALUES (1, randomblob(16), '" + date +
      "', 'ktune sweep', '0.1.0', 'abc', 'cuda', 'NVIDIA H200', "
      "'{\"kind\":\"cuda\",\"name\":\"NVIDIA H200\",\"driver\":\"580.159.04\",\"power_limit_w\":700.0}', 1)");
  run("INSERT INTO problem VALUES (1, randomblob(16), 1, 'copy', 'N=4 f32', 'f32', "
      "'{\"op\":\"copy\"}', '{\"A\":1}', '{}', 's', 's', 1, '{}', 0, 0, 'events', 'cold')");
  run("INSERT INTO trial VALUES (1, randomblob(16), 1, 1, 'copy', 'N=4 f32', 'A=1', '{\"A\":1}', 1, 1, 'Measured', '', "
      "'2026-11-29T00:00:00Z', 'events', 'cold', 3, 7.5, 7.5, 7, 7, 8, 7, 8, 0.9, 0, 0.5, 1, 'fp', '{}', 'key', '{}', "
      "'{}', '{}', '[]', x'', '')");
  run("INSERT INTO trial VALUES (2, randomblob(16), 1, 1, 'copy', 'N=4 f32', 'A=2', '{\"A\":2}', 0, 0, "
      "'CompileFailed', "
      "'the compiler crashed: killed', '2026-11-29T00:00:00Z', NULL, 'cold', NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
      "NULL, NULL, 0, NULL, 1, 'fp2', '{}', '', '{}', '{}', '{}', '[]', x'', '')");
  run("INSERT INTO problem_trial VALUES (1, 1, 'Measured', 7.5, 1, 1)");
}

void expect_the_first_schemas_trial(const model::Dataset& dataset) {
  ASSERT_EQ(dataset.trials.size(), 1U);
  EXPECT_EQ(dataset.trials[0].timing.time_us, 7.5);
  EXPECT_EQ(dataset.trials[0].traffic.dram_read, -1);
  EXPECT_EQ(dataset.trials[0].traffic.dram_written, -1);
  EXPECT_EQ(dataset.trials[0].traffic.why_not, "");
  EXPECT_TRUE(dataset.problems[0].winner.values.empty());
  EXPECT_TRUE(dataset.problems[0].tie_set.empty());
  EXPECT_EQ(dataset.problems[0].timer, "");
}

TEST_F(StoreTest, TheFirstSchemaIsReadAsItIsAndMigratedWhenWritten) {
  make_first_schema(file(), "2026-11-28T00:00:00Z");
  {
    Store store(file(), Store::Mode::kRead);
    expect_the_first_schemas_trial(store.load({}));
    expect_the_first_schemas_trial(store.load_latest({}));
    EXPECT_TRUE(store.fits("NVIDIA H200", "580.159.04", 700.0).empty());
    EXPECT_TRUE(store.find_trial("fp").has_value());
    EXPECT_FALSE(store.find_trial("fp2").has_value());  // known by its words
  }
  EXPECT_EQ(SQLite::Database(file()).execAndGet("PRAGMA user_version").getInt(), 1);
  Store store(file(), Store::Mode::kWrite);
  EXPECT_EQ(SQLite::Database(file()).execAndGet("PRAGMA user_version").getInt(), 3);
  EXPECT_FALSE(store.find_trial("fp2").has_value());
  EXPECT_TRUE(store.load_trial(2)->transient);
  store.add_fit(fit_of("2026-11-29T00:00:00Z", 4000.0));
  const model::Dataset dataset = store.load({});
  expect_the_first_schemas_trial(dataset);
  ASSERT_EQ(dataset.fits.size(), 1U);
  EXPECT_EQ(dataset.fits[0].gbps, 4000.0);
  EXPECT_EQ(store.load_latest({}).fits.size(), 1U);
}

TEST_F(StoreTest, ADatabaseOfTheFirstSchemaIsMergedIntoOneOfToday) {
  make_first_schema(file("old.db"), "2026-11-28T00:00:00Z");
  Store store(file(), Store::Mode::kWrite);
  EXPECT_EQ(store.merge_from(file("old.db")), 1);
  expect_the_first_schemas_trial(store.load({}));
}

TEST_F(StoreTest, EveryFieldOfAFitComesBackAndTheNewestOfAKeyCounts) {
  Store store(file(), Store::Mode::kWrite);
  store.add_fit(fit_of("2026-11-29T00:00:00Z", 4000.0));
  store.add_fit(fit_of("2026-11-28T00:00:00Z", 3000.0));
  model::FitRecord read = fit_of("2026-11-27T00:00:00Z", 4400.0);
  read.read_fraction = 2.0 / 3.0;
  store.add_fit(read);
  model::FitRecord elsewhere = fit_of("2026-11-29T00:00:00Z", 5000.0);
  elsewhere.power_limit_w = 500.0;
  store.add_fit(elsewhere);
  const std::vector<model::FitRecord> fits = store.fits("NVIDIA H200", "580.159.04", 700.0);
  ASSERT_EQ(fits.size(), 2U);
  EXPECT_EQ(fits[0].read_fraction, 2.0 / 3.0);
  const model::FitRecord& back = fits[1];
  EXPECT_EQ(back.device, "NVIDIA H200");
  EXPECT_EQ(back.driver, "580.159.04");
  EXPECT_EQ(back.power_limit_w, 700.0);
  EXPECT_EQ(back.read_fraction, 0.5);
  EXPECT_EQ(back.cache_state, model::CacheState::kDirty);
  EXPECT_EQ(back.timer, model::Timer::kCupti);
  EXPECT_EQ(back.launches, 2);
  EXPECT_EQ(back.t0_us, 3.25);
  EXPECT_EQ(back.gbps, 4000.0);
  EXPECT_EQ(back.ceiling_gbps, 4010.0);
  EXPECT_EQ(back.worst_residual_pct, 1.5);
  EXPECT_EQ(back.points, (std::vector<std::pair<std::int64_t, double>>{{1048576, 4.5}, {16777216, 9.75}}));
  EXPECT_EQ(back.date, "2026-11-29T00:00:00Z");
  EXPECT_EQ(back.commit, "abc123");
  EXPECT_TRUE(store.fits("NVIDIA H200", "581", 700.0).empty());
}

TEST_F(StoreTest, ThePreviousWinnerIsTheNewestOtherSessionsOnTheSameDevice) {
  Store store(file(), Store::Mode::kWrite);
  const auto name_winner = [&](const std::string& date, const std::string& device, const model::Variant& winner) {
    model::ProblemRecord record = record_of(store.add_session(session_of(date, device)), problem_of("rmsnorm", 4));
    record.winner = winner;
    record.id = store.add_problem(record);
    EXPECT_EQ(store.load_problem(record.id)->winner, winner);
    return record.session;
  };
  const std::string text = problem_of("rmsnorm", 4).text();
  EXPECT_TRUE(store.previous_winner("rmsnorm", text, "NVIDIA H200", 0).values.empty());
  name_winner("2026-11-28T00:00:00Z", "NVIDIA H200", variant_of(512));
  name_winner("2026-11-27T00:00:00Z", "NVIDIA H200", variant_of(256));
  name_winner("2026-11-29T00:00:00Z", "NVIDIA A100", variant_of(128));
  name_winner("2026-11-29T01:00:00Z", "NVIDIA H200", {});
  const std::int64_t own = name_winner("2026-11-29T02:00:00Z", "NVIDIA H200", variant_of(64));
  EXPECT_EQ(store.previous_winner("rmsnorm", text, "NVIDIA H200", own), variant_of(512));
  EXPECT_TRUE(store.previous_winner("copy", text, "NVIDIA H200", own).values.empty());
  EXPECT_FALSE(store.load_problem(99).has_value());
}

TEST_F(StoreTest, MergingCopiesWinnersTrafficAndFitsOnce) {
  Store a(file("a.db"), Store::Mode::kWrite);
  Store b(file("b.db"), Store::Mode::kWrite);
  model::SessionRecord session = session_of("2026-11-29T00:00:00Z");
  session.device.power_limit_w = 700.0;
  model::ProblemRecord record = record_of(b.add_session(session), problem_of("rmsnorm", 4));
  record.winner = variant_of(512);
  record.tie_set = {variant_of(512)};
  record.timer = "events";
  record.id = b.add_problem(record);
  model::TrialRecord trial = trial_of(record, variant_of(512), 9.0);
  trial.traffic = {123456789012, 77, "no counters"};
  b.add_trial(trial);
  b.add_fit(fit_of("2026-11-29T00:00:00Z", 4000.0));
  EXPECT_EQ(a.merge_from(file("b.db")), 1);
  EXPECT_EQ(a.merge_from(file("b.db")), 0);
  const model::Dataset dataset = a.load({});
  ASSERT_EQ(dataset.problems.size(), 1U);
  EXPECT_EQ(dataset.problems[0].winner, variant_of(512));
  EXPECT_EQ(dataset.problems[0].tie_set, std::vector<model::Variant>{variant_of(512)});
  EXPECT_EQ(dataset.problems[0].timer, "events");
  EXPECT_EQ(dataset.trials[0].traffic.dram_read, 123456789012);
  EXPECT_EQ(dataset.trials[0].traffic.dram_written, 77);
  EXPECT_EQ(dataset.trials[0].traffic.why_not, "no counters");
  ASSERT_EQ(dataset.fits.size(), 1U);
  EXPECT_EQ(dataset.fits[0].gbps, 4000.0);
}

}  // namespace
}  // namespace ktune::store
