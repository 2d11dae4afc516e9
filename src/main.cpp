#include <cstdio>
#include <filesystem>
#include <new>
#include <string>

#include "base/error.h"
#include "cli/cli.h"

int main(int argc, char** argv) {
  try {
    return ktune::cli::run(argc, argv);
  } catch (const ktune::Error& error) {
    std::fprintf(stderr, "%s\n", ktune::format_error(error).c_str());
    return ktune::exit_code(error.kind());
  } catch (const std::filesystem::filesystem_error& error) {
    // A name that is too long, a link to itself, no right to look.
    const std::string path = error.path1().empty() ? "the current folder" : error.path1().string();
    const ktune::Error usage(ktune::ErrorKind::kUsage, path + ": " + error.code().message(),
                             "look at the paths that the command names");
    std::fprintf(stderr, "%s\n", ktune::format_error(usage).c_str());
    return ktune::exit_code(usage.kind());
  } catch (const std::bad_alloc&) {
    const ktune::Error full(ktune::ErrorKind::kEnvironment, "out of memory",
                            "narrow the work: --param NAME=VALUES, --shape, or fewer problems");
    std::fprintf(stderr, "%s\n", ktune::format_error(full).c_str());
    return ktune::exit_code(full.kind());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ktune: internal error: %s\n  hint: this is a bug in ktune; please report the command\n",
                 error.what());
    return 70;
  }
}
