#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "compile/compile.h"
#include "probe/counters.h"
#include "trial/worker.h"

namespace ktune::cli {

std::function<int()> setup_worker(CLI::App& app, const model::Provenance&) {
  auto device = std::make_shared<std::string>("auto");
  app.add_option("--device", *device, "Device");
  return [device] { return trial::worker_main(*device); };
}

std::function<int()> setup_counters_worker(CLI::App&, const model::Provenance&) {
  return [] { return probe::counters_worker_main(); };
}

std::function<int()> setup_compile_worker(CLI::App&, const model::Provenance&) {
  return [] { return compile::compile_worker_main(); };
}

}  // namespace ktune::cli
