#include "store/open.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include "base/text.h"
#include "store/schema.h"

namespace ktune::store {

namespace fs = std::filesystem;

namespace {

constexpr const char* kSweepFirst = "run `ktune sweep` first, or name another database with --db";

fs::path folder_of(const std::string& path) { return fs::absolute(path).parent_path(); }

bool folder_is_writable(const std::string& path) {
  return faccessat(AT_FDCWD, folder_of(path).c_str(), W_OK, AT_EACCESS) == 0;
}

void check_path(const std::string& path, Store::Mode mode) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    throw Error(ErrorKind::kEnvironment, fmt::format("{} is a folder, not a database", path),
                "name a file inside it: --db " + (fs::path(path) / "ktune.db").string());
  if (fs::exists(path, ignored)) {
    const bool nothing = fs::is_regular_file(path, ignored) && fs::file_size(path, ignored) == 0;
    // An empty file beside a log is a database whose first writer has not yet copied the log over.
    const std::string log = path + "-wal";
    const bool no_log = !fs::exists(log, ignored) || fs::file_size(log, ignored) == 0;
    if (mode == Store::Mode::kRead && nothing && no_log)
      throw Error(ErrorKind::kNoData, fmt::format("{} is empty: nothing was swept into it yet", path), kSweepFirst);
    return;
  }
  if (mode == Store::Mode::kRead)
    throw Error(ErrorKind::kNoData, fmt::format("no database at {} yet", path), kSweepFirst);
  if (!fs::is_directory(folder_of(path), ignored))
    throw Error(ErrorKind::kEnvironment,
                fmt::format("cannot create {}: there is no folder {}", path, folder_of(path).string()),
                "make the folder, or name another file with --db");
}

void check_schema(const SchemaState& state, const std::string& path, Store::Mode mode) {
  const int known = static_cast<int>(migrations().size());
  if (state.empty) {
    if (mode == Store::Mode::kWrite) return;
    throw Error(ErrorKind::kNoData, fmt::format("{} holds no tables: nothing was swept into it yet", path),
                kSweepFirst);
  }
  if (state.application_id != kApplicationId)
    throw Error(ErrorKind::kEnvironment, fmt::format("{} is an SQLite database, but not one of ktune's", path),
                "name another file with --db");
  if (state.version > known)
    throw Error(ErrorKind::kEnvironment,
                fmt::format("{} was made by a newer ktune (schema {}, this one knows {})", path, state.version, known),
                "use that ktune, or another database with --db");
  if (state.version < kOldestReadable && mode == Store::Mode::kRead)
    throw Error(ErrorKind::kEnvironment,
                fmt::format("{} was made by an older ktune (schema {}, this one reads {})", path, state.version, known),
                "the next `ktune sweep --db " + path + "` brings it up to date");
}

/// Changing the journal's mode does not wait: it is refused at once while another process is about to do the same, or
/// recovers the log, whatever the busy timeout (SQLite, "Write-Ahead Logging", 8). So it is tried again for as long.
void use_write_ahead_log(SQLite::Database& database, int busy_timeout_ms) {
  const double end_s = now_s() + 1e-3 * busy_timeout_ms;
  while (true) {
    try {
      database.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (const SQLite::Exception& failure) {
      if (failure.getErrorCode() != SQLITE_BUSY || now_s() >= end_s) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// Becomes a writer for a moment, so that a lock or a read-only file is known now and not after the first trial.
void prepare_for_writing(SQLite::Database& database, const std::string& path, int busy_timeout_ms) {
  if (sqlite3_db_readonly(database.getHandle(), "main") == 1)
    throw Error(ErrorKind::kEnvironment, fmt::format("cannot write to {}: the file is read-only", path),
                "make it writable, or name another database with --db");
  use_write_ahead_log(database, busy_timeout_ms);
  database.exec("PRAGMA synchronous = NORMAL");
  database.exec("PRAGMA foreign_keys = ON");
  migrate(database, migrations());
}

std::string percent_encoded(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#')
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string read_only_uri(const std::string& path) {
  const std::string full = fs::absolute(path).string();
  std::error_code ignored;
  const std::string log = full + "-wal";
  const bool has_log = fs::exists(log, ignored) && fs::file_size(log, ignored) > 0;
  const bool can_write = folder_is_writable(path);
  return "file:" + percent_encoded(full) + (can_write || has_log ? "?mode=ro" : "?mode=ro&immutable=1");
}

Error translate(const SQLite::Exception& failure, const std::string& path) {
  const std::string said = failure.what();
  const auto environment = [](std::string message, std::string hint) {
    return Error(ErrorKind::kEnvironment, std::move(message), std::move(hint));
  };
  switch (failure.getErrorCode()) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return environment(fmt::format("{} is locked: another process is writing to it", path),
                         "wait for it to end, or use another database with --db (`ktune db merge` joins them later)");
    case SQLITE_READONLY:
      return environment(fmt::format("cannot write to {}: the file or its folder is read-only", path),
                         "make it writable, or name another database with --db");
    case SQLITE_CANTOPEN: {
      std::error_code ignored;
      if (fs::exists(path + "-wal", ignored) && !folder_is_writable(path))
        return environment(
            fmt::format("cannot open {}: its last trials are still in {}-wal, and the folder is read-only", path, path),
            "copy both files to a folder that can be written, and read them there");
      return environment(fmt::format("cannot open {}: {}", path, said),
                         "check that the file and its folder may be read and written, or name another with --db");
    }
    case SQLITE_NOTADB:
      return environment(fmt::format("{} is not a database", path), "name a database that `ktune sweep` wrote");
    case SQLITE_CORRUPT:
      return environment(fmt::format("{} is damaged: {}", path, said),
                         "save what is left with `sqlite3 FILE .recover`, or start a new database with --db");
    case SQLITE_FULL:
      return environment(fmt::format("cannot write to {}: the disk is full", path), "free some space");
    case SQLITE_IOERR:
      return environment(fmt::format("cannot read or write {}: {}", path, said), "check the disk");
    default:
      return environment(fmt::format("{}: {}", path, said), "");
  }
}

SQLite::Database open_database(const std::string& path, Store::Mode mode, int busy_timeout_ms) {
  check_path(path, mode);
  const bool writing = mode == Store::Mode::kWrite;
  SQLite::Database database =
      writing ? SQLite::Database("file:" + percent_encoded(fs::absolute(path).string()),
                                 SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_URI, busy_timeout_ms)
              : SQLite::Database(read_only_uri(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI, busy_timeout_ms);
  check_schema(schema_state(database), path, mode);
  if (writing) prepare_for_writing(database, path, busy_timeout_ms);
  return database;
}

}  // namespace ktune::store
