#include "cli/version.h"

#include "ktune_commit.h"

namespace ktune::cli {

std::string_view version() { return KTUNE_VERSION; }

std::string_view commit() { return KTUNE_COMMIT; }

std::string_view version_text() { return "ktune " KTUNE_VERSION " (commit " KTUNE_COMMIT ")"; }

}  // namespace ktune::cli
