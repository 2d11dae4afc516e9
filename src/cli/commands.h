#pragma once

#include <functional>

#include "model/provenance.h"

namespace CLI {
class App;
}

// One function a command, declared from the rows of commands.def.

namespace ktune::cli {

#define KTUNE_COMMAND(setup, name, summary) \
  std::function<int()> setup_##setup(CLI::App& app, const model::Provenance& provenance);
#include "cli/commands.def"

}  // namespace ktune::cli
