#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace ktune {

/// What ended a command. Each kind has one exit code (see exit_code), listed in every `--help`.
enum class ErrorKind {
  kNo,           ///< the answer is no: a gate or a verification failed (exit 1)
  kUsage,        ///< wrong arguments or a wrong config file (exit 2)
  kEnvironment,  ///< no device, driver or compiler; a file that cannot be written (exit 3)
  kNoData,       ///< nothing to judge: no trials, no baseline, all filtered (exit 4)
  kInterrupted,  ///< Ctrl-C (exit 130)
};

/// The process exit code of a kind.
int exit_code(ErrorKind kind);

/// What ends a command: thrown anywhere, caught once in `main`, printed as
/// `ktune: error: MESSAGE`, then `  --> WHERE` and the source excerpt, then `  hint: HINT`.
/// A variant that fails is never an Error: it is an Outcome.
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message, std::string hint = {}, std::string where = {});

  const char* what() const noexcept override { return message_.c_str(); }
  ErrorKind kind() const { return kind_; }
  const std::string& message() const { return message_; }
  /// What to do about it; empty when there is nothing useful to say.
  const std::string& hint() const { return hint_; }
  /// `file:line:column`, optionally followed by a newline, the source line and a caret line.
  const std::string& where() const { return where_; }

 private:
  ErrorKind kind_;
  std::string message_;
  std::string hint_;
  std::string where_;
};

/// The text main prints for an error (no trailing newline), without colour.
std::string format_error(const Error& error);

/// Aborts with a message: a broken invariant of ktune itself, never reachable from user input.
[[noreturn]] void bug(std::string_view what, const char* file, int line);
#define KTUNE_CHECK(condition) ((condition) ? void() : ::ktune::bug(#condition, __FILE__, __LINE__))

}  // namespace ktune
