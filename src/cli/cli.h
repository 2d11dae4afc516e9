#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "model/provenance.h"

namespace CLI {
class App;
}

namespace ktune::cli {

/// Parses the command line, runs the command, returns its exit code. Throws Error; CLI11's own parse errors are
/// printed with a hint and give 2.
int run(int argc, char** argv);

/// One command: its options are bound to a subcommand, what it returns does the work.
struct Command {
  std::string_view name;
  std::string_view summary;
  std::function<int()> (*setup)(CLI::App& app, const model::Provenance& provenance);

  /// Whether --help leaves it out: ktune starts it itself.
  bool is_hidden() const { return summary.empty(); }
};

/// Every command, in the order of `ktune --help`.
std::span<const Command> commands();

}  // namespace ktune::cli
