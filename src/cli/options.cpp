#include "cli/options.h"

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/files.h"
#include "spec/spec.h"
#include "sweep/variant_choice.h"

namespace ktune::cli {

void add_problems(CLI::App& app, sweep::Selection& selection) {
  app.add_option("--op", selection.ops, "An op that comes with ktune (repeatable; `ktune ops` lists them)");
  app.add_option("--config", selection.configs, "An op's own TOML, anywhere on disk (repeatable)");
  app.add_option("--shape", selection.shapes,
                 "Sizes: 4096x4096, or named: M=4096,N=4096 (repeatable; default: the spec's own problems)");
  app.add_option("--dtype", selection.dtypes, "bf16, or by type macro: scalar_t=bf16,weight_t=f32 (repeatable)");
  app.add_option("--attr", selection.attrs, "Attribute of the problem: NAME=VALUE (repeatable)");
}

void add_space(CLI::App& app, sweep::Selection& selection) {
  add_problems(app, selection);
  app.add_option("--param", selection.params, "Narrow a parameter: NAME=V1,V2 (repeatable)");
}

void add_plans(CLI::App& app, sweep::Selection& selection) {
  app.add_option("--plan", selection.plans, "A plan over ops and problems, as in configs/sweeps (repeatable)");
}

CLI::Option* add_variant_option(CLI::App& app, std::string& variant) {
  return app.add_option("--variant", variant, std::string(sweep::kVariantChoiceHelp))->capture_default_str();
}

CLI::Option* add_arch_option(CLI::App& app, std::vector<std::string>& targets, const std::string& help) {
  return app.add_option("--arch", targets, help)
      ->delimiter(',')
      ->capture_default_str()
      ->check([given = std::make_shared<std::set<std::string>>()](const std::string& target) {
        return given->insert(target).second ? std::string() : "'" + target + "' is given twice";
      });
}

std::vector<std::string> inputs_of(const sweep::Selection& selection, const std::string& device,
                                   const std::string& database) {
  constexpr std::string_view kFake = "fake:";
  std::vector<std::string> inputs = selection.configs;
  const auto add_files_of = [&](const auto& load, const std::string& name) {
    try {
      const model::OpSpec spec = load(name);
      inputs.insert(inputs.end(), {spec.spec_path, spec.source_path});
    } catch (const Error&) {  // the run says what is wrong with it
    }
  };
  for (const std::string& config : selection.configs) add_files_of(spec::load_op, config);
  for (const std::string& op : selection.ops) add_files_of(spec::load_shipped_op, op);
  inputs.insert(inputs.end(), selection.plans.begin(), selection.plans.end());
  if (device.starts_with(kFake)) inputs.push_back(device.substr(kFake.size()));
  inputs.push_back(database);
  return inputs;
}

void add_device_option(CLI::App& app, std::string& device) {
  app.add_option("--device", device, "auto, cuda:N, cpu, cpu-sanitize or fake:FILE")->capture_default_str();
}

void add_db_option(CLI::App& app, std::string& path) {
  app.add_option("--db", path, "Database (default: ktune.db in the per-user data folder, $KTUNE_DATA_DIR)");
}

std::string db_path(const std::string& option) { return option.empty() ? (data_dir() / "ktune.db").string() : option; }

}  // namespace ktune::cli
