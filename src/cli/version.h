#pragma once

#include <string_view>

#include "model/provenance.h"

namespace ktune::cli {

/// "ktune 0.1.0 (commit …)"; the commit is "unknown" where ktune was built outside git.
std::string_view version_text();

/// This ktune and the command line it was started with.
model::Provenance provenance_of(int argc, const char* const* argv);

}  // namespace ktune::cli
