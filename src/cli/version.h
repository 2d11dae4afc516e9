#pragma once

#include <string_view>

namespace ktune::cli {

/// "0.1.0"
std::string_view version();
/// The commit the binary was built from, "-dirty" appended when the tree was not clean; "unknown" outside git.
std::string_view commit();
/// "ktune 0.1.0 (commit …)"
std::string_view version_text();

}  // namespace ktune::cli
