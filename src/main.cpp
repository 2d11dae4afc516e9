#include <cstdio>
#include <string>

#include "base/error.h"
#include "cli/cli.h"

int main(int argc, char** argv) {
  try {
    return ktune::cli::run(argc, argv);
  } catch (const ktune::Error& error) {
    std::fprintf(stderr, "%s\n", ktune::format_error(error).c_str());
    return ktune::exit_code(error.kind());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ktune: internal error: %s\n  hint: this is a bug in ktune; please report the command\n",
                 error.what());
    return 70;
  }
}
