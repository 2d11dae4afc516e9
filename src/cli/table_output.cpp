#include "cli/table_output.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/error.h"
#include "base/terminal.h"
#include "base/text.h"

namespace ktune::cli {

void add_table_format(CLI::App& app, std::string& format) {
  app.add_option("--format", format, "term, md or csv")->capture_default_str()->type_name("NAME");
}

void print_table(const Table& table, const std::string& format) {
  const Stream out = stdout_stream();
  std::string text;
  if (format == "term") {
    text = table.term(out.width, out.colour);
  } else if (format == "md") {
    text = table.markdown();
  } else if (format == "csv") {
    text = table.csv();
  } else {
    const std::vector<std::string> known{"term", "md", "csv"};
    throw Error(ErrorKind::kUsage, fmt::format("unknown format '{}'{}", format, did_you_mean(format, known)),
                "one of term, md, csv");
  }
  std::fputs(text.c_str(), stdout);
}

}  // namespace ktune::cli
