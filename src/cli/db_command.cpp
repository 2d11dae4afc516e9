#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "store/store.h"

namespace ktune::cli {

namespace {

int run_merge(const std::string& into, const std::vector<std::string>& from) {
  store::merge_databases(into, from, [&](const std::string& other, int sessions) {
    fmt::print("{}: {} sessions added to {}\n", other, sessions, into);
  });
  return 0;
}

int run_list(const std::string& path, const Output& output) {
  check_output(output, document_formats(), {db_path(path)});
  store::Store store(db_path(path), store::Store::Mode::kRead);
  const auto sessions = store.load({}).sessions;
  if (sessions.empty())
    throw Error(ErrorKind::kNoData, store.path() + " holds no sessions", "run `ktune sweep --op NAME` first");
  Table table{{{"session", true, 0},
               {"date", false, 0},
               {"device", false, 0},
               {"complete", false, 1},
               {"commit", false, 3},
               {"command", false, 2}},
              {}};
  for (const auto& session : sessions)
    table.rows.push_back({session.id, session.date, session.device.name,
                          Cell::truth(session.complete, session.complete ? "yes" : "no"), session.commit,
                          session.command});
  Document document;
  document.schema = "ktune.sessions/1";
  document.title = "Sessions of " + store.path();
  document.sections.push_back({"", {}, std::move(table), {}});
  deliver(output, document_formats(), document);
  return 0;
}

}  // namespace

std::function<int()> setup_db(CLI::App& app, const model::Provenance&) {
  struct Options {
    std::string db, into;
    Output output;
    std::vector<std::string> from;
  };
  auto options = std::make_shared<Options>();
  app.require_subcommand(1);
  CLI::App* merge = app.add_subcommand("merge", "Add the sessions of other databases to the first one");
  merge->add_option("into", options->into, "Database to add to (made if it does not exist)")->required();
  merge->add_option("from", options->from, "Databases to read")->required();
  CLI::App* list = app.add_subcommand("list", "List the sessions of a database");
  add_db_option(*list, options->db);
  add_output(*list, options->output, document_formats());
  return [options, merge] {
    return merge->parsed() ? run_merge(options->into, options->from) : run_list(options->db, options->output);
  };
}

}  // namespace ktune::cli
