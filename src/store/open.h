#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>

#include "base/error.h"
#include "store/store.h"

namespace ktune::store {

/// What a failure of SQLite means to the user: locked, read-only, damaged, not a database, disk full.
Error translate(const SQLite::Exception& failure, const std::string& path);

/// Opens, checks that it is ktune's and not newer, and (kWrite only) creates and migrates it. Throws Error as Store
/// says, and SQLite::Exception for what `translate` knows.
SQLite::Database open_database(const std::string& path, Store::Mode mode, int busy_timeout_ms);

/// A `file:` URI that opens the path for reading only. Where the folder cannot be written and there is no write-ahead
/// log beside the file, it says `immutable`: SQLite could not create the shared memory that it else wants.
std::string read_only_uri(const std::string& path);

}  // namespace ktune::store
