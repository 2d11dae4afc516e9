#include "store/open.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>
#include <functional>

#include "store/fixture.h"
#include "store/schema.h"

namespace ktune::store {
namespace {

using Mode = Store::Mode;

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::int64_t one_trial(Store& store) {
  model::ProblemRecord record =
      record_of(store.add_session(session_of("2026-11-29T00:00:00Z")), problem_of("rmsnorm", 4));
  record.id = store.add_problem(record);
  return store.add_trial(trial_of(record, variant_of(256), 2.5));
}

/// Runs the call in a child that file permissions bind (root gives up its rights) and returns its exit code.
int run_unprivileged(const std::function<int()>& call) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && seteuid(65534) != 0) _exit(99);
    int code = 98;
    try {
      code = call();
    } catch (const Error& error) {
      fprintf(stderr, "%s\n", error.message().c_str());
      code = 97;
    }
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

/// 0 if the call throws an environment error whose message holds the text, else 1.
int refuses(const std::function<void()>& call, const std::string& text) {
  try {
    call();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kEnvironment && error.message().find(text) != std::string::npos) return 0;
    fprintf(stderr, "%s\n", error.message().c_str());
  }
  return 1;
}

TEST_F(StoreTest, ReadingAMissingDatabaseSaysToSweepAndCreatesNothing) {
  const Error error = thrown_by([&] { Store(file(), Mode::kRead); });
  EXPECT_EQ(error.kind(), ErrorKind::kNoData);
  EXPECT_EQ(exit_code(error.kind()), 4);
  EXPECT_EQ(error.message(), "no database at " + file() + " yet");
  EXPECT_EQ(error.hint(), "run `ktune sweep` first, or name another database with --db");
  EXPECT_TRUE(names_in(folder_).empty());
}

TEST_F(StoreTest, AnEmptyFileHasNoDataToReadAndMayBeWrittenTo) {
  write_text(file(), "");
  const Error error = thrown_by([&] { Store(file(), Mode::kRead); });
  EXPECT_EQ(error.kind(), ErrorKind::kNoData);
  EXPECT_EQ(error.message(), file() + " is empty: nothing was swept into it yet");
  EXPECT_EQ(names_in(folder_), (std::vector<std::string>{"a.db"}));
  Store store(file(), Mode::kWrite);
  const auto id = one_trial(store);
  EXPECT_EQ(Store(file(), Mode::kRead).load_trial(id)->timing.time_us, 2.5);
}

TEST_F(StoreTest, AFolderIsNotADatabase) {
  for (const Mode mode : {Mode::kRead, Mode::kWrite}) {
    const Error error = thrown_by([&] { Store(folder_.string(), mode); });
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_EQ(error.message(), folder_.string() + " is a folder, not a database");
  }
}

TEST_F(StoreTest, AMissingFolderIsNamed) {
  const Error error = thrown_by([&] { Store(file("no/such/a.db"), Mode::kWrite); });
  EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
  EXPECT_EQ(error.message(), "cannot create " + file("no/such/a.db") + ": there is no folder " + file("no/such"));
}

TEST_F(StoreTest, AFileOfSomethingElseIsNotADatabaseAndStaysAsItIs) {
  const std::string text(5000, 'x');
  write_text(file(), text);
  for (const Mode mode : {Mode::kRead, Mode::kWrite}) {
    const Error error = thrown_by([&] { Store(file(), mode); });
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_EQ(error.message(), file() + " is not a database");
  }
  std::ifstream in(file());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text);
}

TEST_F(StoreTest, AnotherProgramsDatabaseIsLeftAlone) {
  SQLite::Database(file(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE theirs(x)");
  for (const Mode mode : {Mode::kRead, Mode::kWrite}) {
    const Error error = thrown_by([&] { Store(file(), mode); });
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_EQ(error.message(), file() + " is an SQLite database, but not one of ktune's");
  }
  SQLite::Database theirs(file());
  EXPECT_EQ(theirs.execAndGet("SELECT count(*) FROM sqlite_master").getInt(), 1);
  EXPECT_EQ(theirs.execAndGet("PRAGMA journal_mode").getString(), "delete");
}

TEST_F(StoreTest, ANewerDatabaseIsRefusedWithBothVersions) {
  {
    Store store(file(), Mode::kWrite);
  }
  SQLite::Database(file(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 7");
  for (const Mode mode : {Mode::kRead, Mode::kWrite}) {
    const Error error = thrown_by([&] { Store(file(), mode); });
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_EQ(error.message(), file() + " was made by a newer ktune (schema 7, this one knows " +
                                   std::to_string(migrations().size()) + ")");
  }
}

TEST_F(StoreTest, ReadingAnOlderDatabaseDoesNotMigrateIt) {
  {
    Store store(file(), Mode::kWrite);
  }
  SQLite::Database(file(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 0");
  const Error error = thrown_by([&] { Store(file(), Mode::kRead); });
  EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
  EXPECT_NE(error.message().find("was made by an older ktune (schema 0, this one reads 3)"), std::string::npos);
  EXPECT_EQ(SQLite::Database(file()).execAndGet("PRAGMA user_version").getInt(), 0);
}

TEST_F(StoreTest, ADamagedDatabaseIsCalledDamaged) {
  {
    Store store(file(), Mode::kWrite);
    one_trial(store);
  }
  std::fstream out(file(), std::ios::in | std::ios::out | std::ios::binary);
  for (std::streamoff page = 1; page < 12; ++page) {
    out.seekp(page * 4096);
    out << std::string(4096, '\x5a');
  }
  out.close();
  const Error error = thrown_by([&] { Store(file(), Mode::kRead).load({}); });
  EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
  EXPECT_EQ(error.message(), file() + " is damaged: database disk image is malformed");
}

TEST_F(StoreTest, ALockThatIsHeldTooLongIsReportedAndReadersAreNotHeldUp) {
  Store first(file(), Mode::kWrite, 50);
  const auto id = one_trial(first);
  SQLite::Database holder(file(), SQLite::OPEN_READWRITE);
  holder.exec("BEGIN IMMEDIATE");
  EXPECT_EQ(refuses([&] { Store(file(), Mode::kWrite, 50); }, "is locked: another process is writing to it"), 0);
  EXPECT_EQ(refuses([&] { one_trial(first); }, "is locked: another process is writing to it"), 0);
  EXPECT_EQ(Store(file(), Mode::kRead, 50).load_trial(id)->timing.time_us, 2.5);
  holder.exec("ROLLBACK");
  EXPECT_GT(one_trial(first), id);
}

TEST_F(StoreTest, AReadOnlyFileIsRefusedForWritingAtOnce) {
  {
    Store store(file(), Mode::kWrite);
    one_trial(store);
  }
  chmod(file().c_str(), 0444);
  chmod(folder_.c_str(), 0777);
  EXPECT_EQ(
      run_unprivileged([&] { return refuses([&] { Store(file(), Mode::kWrite); }, "cannot write to " + file()); }), 0);
}

TEST_F(StoreTest, InAReadOnlyFolderNothingIsCreatedAndReadingStillWorks) {
  std::int64_t id = 0;
  {
    Store store(file(), Mode::kWrite);
    id = one_trial(store);
  }
  chmod(file().c_str(), 0644);
  chmod(folder_.c_str(), 0555);
  EXPECT_EQ(run_unprivileged([&] { return Store(file(), Mode::kRead).load_trial(id)->timing.time_us == 2.5 ? 0 : 1; }),
            0);
  EXPECT_EQ(names_in(folder_), (std::vector<std::string>{"a.db"}));
  EXPECT_EQ(run_unprivileged([&] { return refuses([&] { Store(file(), Mode::kWrite); }, file()); }), 0);
  EXPECT_EQ(run_unprivileged([&] { return refuses([&] { Store(file("b.db"), Mode::kWrite); }, file("b.db")); }), 0);
  chmod(folder_.c_str(), 0755);
}

TEST_F(StoreTest, TrialsLeftInTheLogAreNotSilentlySkippedInAReadOnlyFolder) {
  Store store(file(), Mode::kWrite);
  const auto id = one_trial(store);
  std::filesystem::create_directory(folder_ / "copy");
  for (const std::string name : {"a.db", "a.db-wal"})
    std::filesystem::copy_file(folder_ / name, folder_ / "copy" / name);
  chmod(file("copy").c_str(), 0555);
  chmod(folder_.c_str(), 0755);
  EXPECT_EQ(run_unprivileged([&] {
              return refuses([&] { Store(file("copy/a.db"), Mode::kRead).load_trial(id); },
                             "its last trials are still in " + file("copy/a.db-wal"));
            }),
            0);
  chmod(file("copy").c_str(), 0755);
}

TEST_F(StoreTest, ReadingLeavesTheDatabasesBytesAlone) {
  {
    Store store(file(), Mode::kWrite);
    one_trial(store);
  }
  const auto bytes = [&] {
    std::ifstream in(file(), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string before = bytes();
  Store(file(), Mode::kRead).load({});
  EXPECT_EQ(bytes(), before);
  EXPECT_EQ(refuses(
                [&] {
                  Store store(file(), Mode::kRead);
                  one_trial(store);
                },
                "cannot write to"),
            0);
}

TEST_F(StoreTest, AFailedMigrationLeavesTheDatabaseAsItWasAndALaterOneGoesOn) {
  SQLite::Database database(file(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  const char* const bad[] = {"CREATE TABLE a(x)", "CREATE TABLE b(x); CREATE TABLE a(x)"};
  EXPECT_THROW(migrate(database, bad), SQLite::Exception);
  EXPECT_TRUE(schema_state(database).empty);
  EXPECT_EQ(schema_state(database).version, 0);
  const char* const good[] = {"CREATE TABLE a(x)", "ALTER TABLE a ADD COLUMN y"};
  migrate(database, std::span(good).first(1));
  EXPECT_EQ(schema_state(database).version, 1);
  database.exec("INSERT INTO a VALUES (5)");
  migrate(database, good);
  EXPECT_EQ(schema_state(database).version, 2);
  EXPECT_EQ(schema_state(database).application_id, kApplicationId);
  EXPECT_EQ(database.execAndGet("SELECT x FROM a WHERE y IS NULL").getInt(), 5);
}

TEST_F(StoreTest, AWriterKilledInMidTransactionLosesNothingItHadCommitted) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    Store store(file(), Mode::kWrite);
    model::ProblemRecord record =
        record_of(store.add_session(session_of("2026-11-29T00:00:00Z")), problem_of("rmsnorm", 4));
    record.id = store.add_problem(record);
    for (int i = 0; i < 20; ++i) store.add_trial(trial_of(record, variant_of(256 + i), 1.0 + i));
    store.in_one_transaction([&] {
      for (int i = 0; i < 4000; ++i) store.add_trial(trial_of(record, variant_of(5000 + i), 100.0));
      if (write(pipe_ends[1], "x", 1) == 1) pause();
    });
    _exit(1);
  }
  char byte = 0;
  ASSERT_EQ(read(pipe_ends[0], &byte, 1), 1);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_TRUE(std::filesystem::exists(file() + "-wal"));
  {
    Store store(file(), Mode::kRead);
    const model::Dataset dataset = store.load({});
    ASSERT_EQ(dataset.trials.size(), 20U);
    EXPECT_EQ(dataset.trials[19].timing.time_us, 20.0);
    EXPECT_EQ(store.load_latest({}).problems[0].outcomes.at("Measured"), 20);
  }
  Store store(file(), Mode::kWrite);
  one_trial(store);
  EXPECT_EQ(SQLite::Database(file()).execAndGet("PRAGMA integrity_check").getString(), "ok");
  EXPECT_EQ(store.load({}).trials.size(), 21U);
}

TEST_F(StoreTest, SeveralProcessesMayCreateAndFillOneDatabaseAtOnce) {
  std::vector<pid_t> children;
  for (int worker = 0; worker < 4; ++worker) {
    const pid_t child = fork();
    if (child == 0) {
      int code = 1;
      try {
        Store store(file(), Mode::kWrite);
        for (int i = 0; i < 10; ++i) one_trial(store);
        code = 0;
      } catch (const Error& error) {
        fprintf(stderr, "%s\n", error.message().c_str());
      }
      _exit(code);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const model::Dataset dataset = Store(file(), Mode::kRead).load({});
  EXPECT_EQ(dataset.trials.size(), 40U);
  EXPECT_EQ(dataset.sessions.size(), 40U);
}

}  // namespace
}  // namespace ktune::store
