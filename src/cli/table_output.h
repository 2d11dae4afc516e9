#pragma once

#include <string>

#include "base/table.h"

namespace CLI {
class App;
}

namespace ktune::cli {

/// Binds --format term|md|csv for a command whose output is one table.
void add_table_format(CLI::App& app, std::string& format);

/// Prints a table to stdout as asked: term is fitted to the terminal. Throws Error(kUsage), "did you mean".
void print_table(const Table& table, const std::string& format);

}  // namespace ktune::cli
