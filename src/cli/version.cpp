#include "cli/version.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "ktune_commit.h"

namespace ktune::cli {

namespace {

/// Quoted for a shell when it needs to be.
std::string shell_word(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string("-_./=,:+@%").find(static_cast<char>(c)) != std::string::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string_view version_text() { return "ktune " KTUNE_VERSION " (commit " KTUNE_COMMIT ")"; }

model::Provenance provenance_of(int argc, const char* const* argv) {
  std::string command = "ktune";
  for (int i = 1; i < argc; ++i) command += " " + shell_word(argv[i]);
  return {command, KTUNE_VERSION, KTUNE_COMMIT};
}

}  // namespace ktune::cli
