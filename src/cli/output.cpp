#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>

#include "base/files.h"
#include "base/process.h"

namespace ktune::cli {

namespace fs = std::filesystem;

namespace {

/// Told now, not when everything is measured.
void check_writable(const std::string& path) {
  std::error_code ignored;
  const fs::path folder = fs::absolute(path).parent_path();
  const bool there = fs::is_directory(folder, ignored) && ::access(folder.c_str(), W_OK) == 0;
  if (!there || fs::is_directory(path, ignored))
    throw Error(ErrorKind::kEnvironment, fmt::format("{} cannot be written", path),
                there ? "it is a folder" : "its folder does not exist, or may not be written");
}

/// A path that names one file alone, whatever the links; a pipe has none of its own.
std::string one_name_of(const std::string& file) {
  std::error_code error;
  const fs::path path = fs::weakly_canonical(fs::absolute(file), error);
  return error ? file : path.string();
}

}  // namespace

void check_no_input(const std::vector<std::string>& inputs, const std::string& option, const std::string& file) {
  std::error_code error;
  for (const std::string& input : inputs)
    if (!input.empty() && fs::equivalent(input, file, error) && fs::is_regular_file(file, error))
      throw Error(ErrorKind::kUsage, fmt::format("{} {}: the run reads that file", option, file), "name another");
}

std::vector<std::string> Output::formats() const {
  std::vector<std::string> all{format};
  for (const std::string& file : files) all.push_back(parse_output(file).format);
  return all;
}

void add_output(CLI::App& app, Output& output, const std::string& names) {
  app.add_option("--format", output.format, "Format of standard output" + names)
      ->capture_default_str()
      ->type_name("NAME");
  app.add_option("--out", output.files, "Also write this format to a file (repeatable)")->type_name("FORMAT=FILE");
}

OutputFile parse_output(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw Error(ErrorKind::kUsage, fmt::format("--out {}: expected FORMAT=FILE", text),
                "for example --out md=table.md");
  return {text.substr(0, at), text.substr(at + 1)};
}

void check_output_files(const Output& output, const std::vector<std::string>& inputs) {
  std::set<std::string> files;
  for (const std::string& text : output.files) {
    const std::string file = parse_output(text).path;
    check_writable(file);
    check_no_input(inputs, "--out", file);
    if (!files.insert(one_name_of(file)).second)
      throw Error(ErrorKind::kUsage, fmt::format("--out names {} twice", file), "a file for each format");
  }
}

void write_output(const std::string& path, const std::string& text, std::optional<Error>& failure) {
  try {
    write_file(path, text);
  } catch (const Error& error) {
    if (!failure) failure = error;
  }
}

void print_output(const std::string& text) {
  // A reader that stopped reading holds the write for ever, and the write goes on after a signal.
  std::optional<EndsAtInterrupt> scope;
  if (!interrupted()) scope.emplace();
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);  // it is out, whatever became of the files
}

}  // namespace ktune::cli
