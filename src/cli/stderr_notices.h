#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "base/notices.h"

namespace ktune::cli {

/// Notices on stderr: lines stay, progress is rewritten in place on a terminal. Copies share one progress line, which
/// is cleared with the last of them.
Notices stderr_notices();

/// To stderr. A log that cannot be written (a full disk) ends no work, as fmt::print would by throwing.
template <typename... Args>
void print_log(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace ktune::cli
