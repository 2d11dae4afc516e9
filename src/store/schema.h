#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <span>
#include <string>

namespace ktune::store {

/// "ktun": tells ktune's databases from anyone else's SQLite file.
inline constexpr int kApplicationId = 0x6b74756e;

/// SQL of every migration: number i (from 0) takes a database from user_version i to i + 1.
std::span<const char* const> migrations();

/// The oldest schema that can be read as it is, without a migration.
inline constexpr int kOldestReadable = 1;
/// The first schema with winners, tie sets, measured traffic and fits.
inline constexpr int kSchemaWithWinners = 2;
/// The first schema that keeps the files a winner was swept from, and how noisy processes are.
inline constexpr int kSchemaWithSources = 3;
/// What is written.
inline constexpr int kNewestSchema = 3;

/// What a database says of itself.
struct SchemaState {
  int version = 0;
  int application_id = 0;
  bool empty = true;  ///< no table at all: a new file
};
SchemaState schema_state(SQLite::Database& database);

/// Applies the steps that the database lacks in one transaction: after a failure it is as before. Safe when two
/// processes do it at once.
void migrate(SQLite::Database& database, std::span<const char* const> steps);

}  // namespace ktune::store
