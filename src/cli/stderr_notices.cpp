#include "cli/stderr_notices.h"

#include <memory>

#include "base/terminal.h"

namespace ktune::cli {

Notices stderr_notices() {
  const auto line = std::make_shared<ProgressLine>();
  return {[line](const std::string& text) { line->print(text); },
          [line](const std::string& text) { text.empty() ? line->clear() : line->update(text); }};
}

}  // namespace ktune::cli
