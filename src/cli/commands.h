#pragma once

#include <functional>

#include "model/provenance.h"

namespace CLI {
class App;
}

// One function a command, each in its own file: binds options to `app`, returns what runs.

namespace ktune::cli {

std::function<int()> setup_sweep(CLI::App& app, const model::Provenance& provenance);
std::function<int()> setup_report(CLI::App& app, const model::Provenance& provenance);
std::function<int()> setup_roofline(CLI::App& app, const model::Provenance& provenance);
std::function<int()> setup_bench(CLI::App& app, const model::Provenance& provenance);
std::function<int()> setup_gate(CLI::App& app, const model::Provenance& provenance);
std::function<int()> setup_run(CLI::App& app, const model::Provenance& provenance);
std::function<int()> setup_show(CLI::App& app, const model::Provenance& provenance);
std::function<int()> setup_ops(CLI::App& app, const model::Provenance& provenance);
std::function<int()> setup_space(CLI::App& app, const model::Provenance& provenance);
std::function<int()> setup_verify(CLI::App& app, const model::Provenance& provenance);
std::function<int()> setup_doctor(CLI::App& app, const model::Provenance& provenance);
std::function<int()> setup_help(CLI::App& app, const model::Provenance& provenance);
std::function<int()> setup_baseline(CLI::App& app, const model::Provenance& provenance);
std::function<int()> setup_db(CLI::App& app, const model::Provenance& provenance);
std::function<int()> setup_counters_worker(CLI::App& app, const model::Provenance& provenance);
std::function<int()> setup_worker(CLI::App& app, const model::Provenance& provenance);
std::function<int()> setup_compile_worker(CLI::App& app, const model::Provenance& provenance);

}  // namespace ktune::cli
