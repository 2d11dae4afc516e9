#include "cli/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/version.h"

namespace ktune::cli {

namespace {

constexpr std::array kCommands{
#define KTUNE_COMMAND(setup, name, summary) Command{name, summary, setup_##setup},
#include "cli/commands.def"
};

constexpr const char* kExitCodes =
    "Exit codes: 0 done, yes   1 the answer is no (verification or gate failed)   2 usage or config\n"
    "            3 environment (no device, driver, compiler, database)   4 nothing to judge (no data)\n"
    "            130 interrupted";

constexpr const char* kManual = "`ktune help` lists the pages of the manual, `ktune help TOPIC` prints one.";

std::vector<std::string> visible_names() {
  std::vector<std::string> names;
  for (const Command& command : kCommands)
    if (!command.is_hidden()) names.emplace_back(command.name);
  return names;
}

/// CLI11 answers --help before it looks at what else was said.
void check_command(int argc, char** argv) {
  if (argc <= 1 || argv[1][0] == '-') return;
  const std::string name = argv[1];
  for (const Command& command : kCommands)
    if (command.name == name) return;
  throw Error(ErrorKind::kUsage, fmt::format("unknown command '{}'{}", name, did_you_mean(name, visible_names())),
              "see `ktune --help`");
}

/// CLI11's message in ktune's form, with "did you mean" for an unknown option.
Error usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const auto used = app.get_subcommands();
  const std::string name = used.empty() ? "ktune" : "ktune " + used.front()->get_name();
  std::string message = error.what();
  if (const auto* extras = dynamic_cast<const CLI::ExtrasError*>(&error); extras != nullptr) {
    std::vector<std::string> options;
    for (const CLI::Option* option : (used.empty() ? &app : used.front())->get_options())
      for (const std::string& long_name : option->get_lnames()) options.push_back("--" + long_name);
    for (int i = 1; i < argc; ++i) {
      const std::string text = split(argv[i], '=').front();
      if (text.rfind("--", 0) != 0 || std::find(options.begin(), options.end(), text) != options.end()) continue;
      message = fmt::format("unknown option '{}'{}", text, did_you_mean(text, options));
      break;
    }
  }
  return Error(ErrorKind::kUsage, message, fmt::format("see `{} --help`", name));
}

/// An empty value means nothing anywhere: in a script it is a variable that was not set. One that reads like an option
/// is the next option, where a value was forgotten.
void check_values(const CLI::App& app) {
  for (const CLI::App* used : app.get_subcommands()) {
    for (const CLI::Option* option : used->get_options()) {
      for (const std::string& value : option->results()) {
        const bool is_named = !option->get_lnames().empty();  // what follows bench are flags of Google Benchmark
        if (!value.empty() && !(is_named && value.starts_with("--"))) continue;
        const std::string what = value.empty() ? "an empty value" : fmt::format("'{}' as its value", value);
        throw Error(ErrorKind::kUsage, fmt::format("{} is given {}", option->get_name(), what),
                    fmt::format("see `ktune {} --help`", used->get_name()));
      }
    }
    check_values(*used);
  }
}

/// A report that did not reach its file is no success.
int finish_output(int code) {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw Error(ErrorKind::kEnvironment, "the output could not be written", "is the disk full?");
  return code;
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

int run(int argc, char** argv) {
  fill_standard_streams();
  install_interrupt_handler();
  CLI::App app{
      "ktune tunes and benchmarks GPU kernels: every variant verified, timed with a flushed L2, compared\n"
      "with what the memory can give, and recorded.",
      "ktune"};
  app.set_version_flag("--version", std::string(version_text()));
  app.require_subcommand(1);
  app.footer(std::string(kExitCodes) + "\n\n" + kManual);
  const model::Provenance provenance = provenance_of(argc, argv);
  std::vector<std::pair<CLI::App*, std::function<int()>>> bodies;
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->footer(kExitCodes);
    if (command.is_hidden()) sub->group("");
    bodies.emplace_back(sub, command.setup(*sub, provenance));
  }
  check_command(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    if (argc <= 1) {
      std::fputs(app.help().c_str(), stderr);
      return 2;
    }
    throw usage_error(app, error, argc, argv);
  }
  check_values(app);
  for (const auto& [sub, body] : bodies)
    if (sub->parsed()) return finish_output(body());
  return 2;
}

}  // namespace ktune::cli
