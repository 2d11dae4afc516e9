#include "trial/crash.h"

#include <fmt/format.h>
#include <csignal>

#include <optional>
#include <regex>
#include <string_view>

#include "base/text.h"

namespace ktune::trial {
namespace {

constexpr std::size_t kMostReason = 160;

/// "overrun.cu:11" of the first line that names a kernel source, from `start` on.
std::optional<std::string> source_line(const std::string& text, std::size_t start) {
  static const std::regex kLine(R"(([A-Za-z0-9_.+-]+\.cuh?):(\d+))");
  std::smatch match;
  const auto from = text.begin() + static_cast<std::ptrdiff_t>(start);
  if (!std::regex_search(from, text.end(), match, kLine)) return std::nullopt;
  return match.str(0);
}

std::optional<std::string> sanitizer_reason(const std::string& text) {
  static const std::regex kAddress(R"(ERROR: (\w+Sanitizer): ([A-Za-z-]+))");
  static const std::regex kUndefined(R"(([^\n]*): runtime error: ([^\n]*))");
  std::smatch match;
  std::string what;
  std::size_t start = 0;
  if (std::regex_search(text, match, kUndefined)) {
    // Its own position may be a header's; the frames below it name the kernel.
    what = "UndefinedBehaviorSanitizer: " + match.str(2);
    start = static_cast<std::size_t>(match.position(0));
  } else if (std::regex_search(text, match, kAddress)) {
    what = match.str(1) + ": " + match.str(2);
    start = static_cast<std::size_t>(match.position(0));
  } else {
    return std::nullopt;
  }
  const std::optional<std::string> line = source_line(text, start);
  return line ? what + " at " + *line : what;
}

std::string last_line(const std::string& text) {
  std::string last;
  for (const std::string& line : split(text, '\n')) {
    if (!trim(line).empty()) last = std::string(trim(line));
  }
  // The CPU device's own account of a fault begins with the program's name.
  constexpr std::string_view kName = "ktune: ";
  if (last.starts_with(kName)) last.erase(0, kName.size());
  return last.substr(0, kMostReason);
}

}  // namespace

model::Failure crash_failure(const ExitStatus& status, const std::string& stderr_tail) {
  model::Failure failure;
  failure.outcome = model::Outcome::kCrashed;
  failure.detail = stderr_tail;
  failure.transient = status.signal == SIGKILL;  // no kernel does that: someone, or a host without memory, did
  if (const std::optional<std::string> reason = sanitizer_reason(stderr_tail)) {
    failure.reason = *reason;
    return failure;
  }
  failure.reason = "the worker ended: " + status.text();
  const std::string words = last_line(stderr_tail);
  if (!words.empty()) failure.reason += ": " + words;
  return failure;
}

}  // namespace ktune::trial
