#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/open.h"
#include "store/rows.h"
#include "store/schema.h"
#include "store/store.h"

namespace ktune::store {

/// Runs work and turns what SQLite or a JSON column throws into an Error.
template <typename Work>
auto guarded(const std::string& path, Work&& work) {
  try {
    return work();
  } catch (const SQLite::Exception& failure) {
    throw translate(failure, path);
  } catch (const model::Json::exception& failure) {
    throw Error(ErrorKind::kEnvironment, fmt::format("{} holds a row that cannot be read: {}", path, failure.what()),
                "it was written by another version of ktune, or it is damaged");
  }
}

/// The newest fit of each (mix, cache state, timer, launches) of a device; none before there was a table for them.
std::vector<model::FitRecord> newest_fits(SQLite::Database& database, const std::string& device,
                                          const std::string& driver, double power_limit_w);

/// Which file a path leads to; zeros where it leads to none.
inline std::pair<dev_t, ino_t> file_at(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino};
}

struct Store::Impl {
  Impl(std::string path_in, Mode mode, int busy_timeout_ms)
      : path(std::move(path_in)),
        database(open_database(path, mode, busy_timeout_ms)),
        schema(schema_state(database).version),
        file(file_at(path)) {}

  /// A statement, prepared once. Ready to bind: reset and without bindings.
  SQLite::Statement& statement(const std::string& sql) {
    auto& slot = statements[sql];
    if (!slot) slot = std::make_unique<SQLite::Statement>(database, sql);
    slot->tryReset();
    return *slot;
  }

  /// Work in a transaction of its own, or in the one that in_one_transaction opened.
  template <typename Work>
  void write(Work&& work) {
    guarded(path, [&] {
      if (in_batch) return work();
      SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
      work();
      transaction.commit();
    });
    // SQLite goes on writing into a file that was removed.
    if (file_at(path) == file) return;
    throw Error(
        ErrorKind::kEnvironment,
        fmt::format("the database {} was removed or replaced while it was written: what went into it is lost", path),
        "keep the database where nothing cleans up, or name another one with --db");
  }

  std::string path;
  SQLite::Database database;
  int schema;  ///< what the columns are; reading does not migrate
  std::pair<dev_t, ino_t> file;
  std::map<std::string, std::unique_ptr<SQLite::Statement>> statements;  // before the database closes, these go
  VariantCache variants;
  bool in_batch = false;
};

}  // namespace ktune::store
