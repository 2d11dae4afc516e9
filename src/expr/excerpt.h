#pragma once

#include <string>
#include <string_view>

#include "model/op_spec.h"

namespace ktune::expr {

/// What Error::where shows of a place in a spec: "file:line:column", then the source line and a caret line of `width`
/// columns when the file can be read. `offset` columns are added when the source line really holds `text` at the
/// position (it does not for a string with escapes or of several lines; the caret then marks its start).
/// "" for a position without a line (a value from the command line).
std::string excerpt(const model::SourcePos& at, std::string_view text = {}, int offset = 0, int width = 1);

/// Throws Error(kUsage) whose `where` marks `width` columns of the expression, `offset` columns into its text.
[[noreturn]] void fail_at(const model::Expression& expression, int offset, int width, const std::string& message,
                          const std::string& hint = {});

}  // namespace ktune::expr
