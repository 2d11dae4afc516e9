#include "base/error.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace ktune {

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kNo:
      return 1;
    case ErrorKind::kUsage:
      return 2;
    case ErrorKind::kEnvironment:
      return 3;
    case ErrorKind::kNoData:
      return 4;
    case ErrorKind::kInterrupted:
      return 130;
  }
  bug("an ErrorKind without an exit code", __FILE__, __LINE__);
}

Error::Error(ErrorKind kind, std::string message, std::string hint, std::string where)
    : kind_(kind), message_(std::move(message)), hint_(std::move(hint)), where_(std::move(where)) {}

namespace {

/// The text with every line after the first pushed in, so that a source line and its caret stay aligned.
std::string indented(std::string_view text, std::string_view indent) {
  std::string result;
  for (char c : text) {
    result += c;
    if (c == '\n') result += indent;
  }
  return result;
}

std::string_view without_trailing_newlines(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return text;
}

}  // namespace

std::string format_error(const Error& error) {
  std::string text = "ktune: error: " + indented(without_trailing_newlines(error.message()), "  ");
  if (!error.where().empty()) text += "\n  --> " + indented(without_trailing_newlines(error.where()), "      ");
  if (!error.hint().empty()) text += "\n  hint: " + indented(without_trailing_newlines(error.hint()), "        ");
  return text;
}

void bug(std::string_view what, const char* file, int line) {
  std::fprintf(stderr, "ktune: bug: %.*s (%s:%d)\n", static_cast<int>(what.size()), what.data(), file, line);
  std::fflush(stderr);
  std::abort();
}

}  // namespace ktune
