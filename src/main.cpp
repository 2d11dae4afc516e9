#include <cstdio>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "cli/cli.h"

int main(int argc, char** argv) {
  try {
    return ktune::cli::run(argc, argv);
  } catch (const ktune::Error& error) {
    std::fprintf(stderr, "%s\n", ktune::format_error(error).c_str());
    return ktune::exit_code(error.kind());
  } catch (
      const std::filesystem::filesystem_error& error) {  // a name that is too long, a link to itself, no right to look
    const std::string path = error.path1().empty() ? "the current folder" : error.path1().string();
    std::fprintf(stderr, "ktune: error: %s: %s\n  hint: look at the paths that the command names\n", path.c_str(),
                 error.code().message().c_str());
    return ktune::exit_code(ktune::ErrorKind::kUsage);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ktune: internal error: %s\n  hint: this is a bug in ktune; please report the command\n",
                 error.what());
    return 70;
  }
}
