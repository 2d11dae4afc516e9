#pragma once

#include <string>
#include <vector>

#include "sweep/selection.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// Options that several commands share.

namespace ktune::cli {

/// Binds --op, --config, --shape, --dtype and --attr: one variant of each problem is meant.
void add_problems(CLI::App& app, sweep::Selection& selection);
/// Binds those and --param: a space, narrowed.
void add_space(CLI::App& app, sweep::Selection& selection);
/// Binds --plan.
void add_plans(CLI::App& app, sweep::Selection& selection);

/// Binds --variant, to what sweep::parse_variant_choice takes; `variant` is the default.
CLI::Option* add_variant_option(CLI::App& app, std::string& variant);

/// Binds --arch, a list; `targets` is the default.
CLI::Option* add_arch_option(CLI::App& app, std::vector<std::string>& targets, const std::string& help);

/// The files that a run of these options reads: specs and their sources, plans, a fake device's script, a database ("":
/// none).
std::vector<std::string> inputs_of(const sweep::Selection& selection, const std::string& device,
                                   const std::string& database);

/// Binds --device (default auto).
void add_device_option(CLI::App& app, std::string& device);

/// Binds --db.
void add_db_option(CLI::App& app, std::string& path);
/// The database's path: the option, else DATA_DIR/ktune.db.
std::string db_path(const std::string& option);

}  // namespace ktune::cli
