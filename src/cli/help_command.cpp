#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands.h"

// The manual: a page is a Markdown file whose name is the topic and whose first line, `# …`, is its summary. Nothing
// else lists the pages, so a new page is a new file.

namespace ktune::cli {

namespace {

namespace fs = std::filesystem;

struct Page {
  std::string topic;
  std::string summary;
  std::string text;
};

/// Below the kernels and specs of an installed ktune, or in a source tree.
fs::path pages_folder() {
  const fs::path root = resource_root();
  for (const fs::path& folder : {root / "help", root / "src" / "help"})
    if (fs::is_directory(folder)) return folder;
  throw Error(ErrorKind::kEnvironment, fmt::format("there are no pages of the manual below {}", root.string()),
              "copy the whole installed folder, or set KTUNE_ROOT");
}

/// By topic, in alphabetical order.
std::vector<Page> load_pages() {
  std::vector<Page> pages;
  for (const auto& entry : fs::directory_iterator(pages_folder())) {
    if (entry.path().extension() != ".md") continue;
    std::string text = read_file(entry.path());
    std::string_view title = std::string_view(text).substr(0, text.find('\n'));
    while (title.starts_with('#')) title.remove_prefix(1);
    pages.push_back({entry.path().stem().string(), std::string(trim(title)), std::move(text)});
  }
  std::sort(pages.begin(), pages.end(), [](const Page& a, const Page& b) { return a.topic < b.topic; });
  return pages;
}

void print_topics(const std::vector<Page>& pages) {
  Table table{{{"topic"}, {"what it explains"}}, {}};
  for (const Page& page : pages) table.rows.push_back({page.topic, page.summary});
  const Stream out = stdout_stream();
  std::fputs(table.term(out.width, out.colour).c_str(), stdout);
  std::fputs("\n`ktune help TOPIC` prints a page, `ktune help COMMAND` the options of a command.\n", stdout);
}

/// As it is in the file, less the comments, which are for the check of its examples. Headings in bold, if colour.
void print_page(const Page& page) {
  const bool colour = stdout_stream().colour;
  bool in_block = false;
  for (const std::string& line : split(trim(page.text), '\n')) {
    if (line.starts_with("```")) in_block = !in_block;
    if (!in_block && line.starts_with("<!--")) continue;
    const bool heading = !in_block && line.starts_with('#');
    std::fputs((styled(line, heading ? Style::kBold : Style::kPlain, colour) + "\n").c_str(), stdout);
  }
}

/// A command with what follows it, as `baseline save`. Null: there is none of that name.
const CLI::App* find_command(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* found = &app;
  for (const std::string& word : words) {
    const auto commands = found->get_subcommands([&](const CLI::App* command) {
      return command->get_name() == word && !command->get_group().empty();  // a hidden one is in no group
    });
    if (commands.empty()) return nullptr;
    found = commands.front();
  }
  return found;
}

Error unknown_topic(const std::string& name, const std::vector<Page>& pages, const CLI::App& app) {
  std::vector<std::string> known;
  for (const Page& page : pages) known.push_back(page.topic);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    known.push_back(command->get_name());
  return {ErrorKind::kUsage, fmt::format("unknown topic '{}'{}", name, did_you_mean(name, known)),
          "`ktune help` lists the topics"};
}

/// A page and a command of the same name are printed one after the other.
int run_help(const std::vector<std::string>& words, const CLI::App& app) {
  const std::vector<Page> pages = load_pages();
  if (words.empty()) {
    print_topics(pages);
    return 0;
  }
  const std::string name = join(words, " ");
  const auto page = std::find_if(pages.begin(), pages.end(), [&](const Page& one) { return one.topic == name; });
  const CLI::App* command = find_command(app, words);
  if (page == pages.end() && command == nullptr) throw unknown_topic(name, pages, app);
  if (page != pages.end()) print_page(*page);
  if (page != pages.end() && command != nullptr) std::fputs("\n", stdout);
  if (command != nullptr) {
    const auto before = join(std::vector<std::string>(words.begin(), words.end() - 1), " ");
    std::fputs(command->help(before.empty() ? "ktune" : "ktune " + before).c_str(), stdout);
  }
  return 0;
}

}  // namespace

std::function<int()> setup_help(CLI::App& app, const model::Provenance&) {
  auto words = std::make_shared<std::vector<std::string>>();
  app.add_option("topic", *words, "A topic, or a command");
  return [words, &app] { return run_help(*words, *app.get_parent()); };
}

}  // namespace ktune::cli
